"""What a comment is said of: by its place, and on a line of its own by its name."""

from __future__ import annotations

import textwrap

import pytest

from shapedoc.source.contracts import ModuleContracts
from shapedoc.source.ir import For, FunctionDef
from shapedoc.source.lower_ast import lower
from shapedoc.source.walk import statements


def bound(text: str) -> list[str]:
    """Every binding of a text, as ``line place name shape``, with ``~`` where it is not sure."""
    module = lower(textwrap.dedent(text).lstrip("\n"))
    contracts = ModuleContracts(module)
    found: list[str] = []
    for stmt in statements(module):
        line = stmt.span[0]
        tables = {"after": contracts.after(stmt), "before": contracts.before(stmt)}
        if isinstance(stmt, For):
            tables["round"] = contracts.rounds(stmt)
        if isinstance(stmt, FunctionDef):
            tables["returns"] = contracts.returns(stmt)
            for name, shapes in contracts.params(stmt).items():
                found.extend(f"{line} param {name} {'' if s.sure else '~'}{s}" for s in shapes)
        for place, bounds in tables.items():
            for b in bounds:
                index = "" if b.index is None else f"[{b.index}]"
                found.append(f"{line} {place} {b.name}{index} {'' if b.shape.sure else '~'}{b.shape}")
        operands = contracts.operands(stmt)
        if operands is not None:
            found.append(f"{line} operands {operands[0]} {operands[1]}")
        found.extend(f"{line} near {s}" for s in contracts.near(stmt))
    return found


def test_a_trailing_comment_is_of_the_target_after_the_statement() -> None:
    assert bound("x = x.transpose(1, 2)  # (B, C, T)") == ["1 after x (B, C, T)"]
    assert bound("self.k = f(x)  # [B, T]") == ["1 after self.k (B, T)"]
    assert bound("x += y  # (B, T)") == ["1 after x (B, T)"]


def test_an_arrow_says_both_sides() -> None:
    assert bound("y = x.transpose(1, 2)  # (B, T, C) -> (B, C, T)") == ["1 after y (B, C, T)", "1 before x (B, T, C)"]
    assert bound("y = F.pad(x, (1, 1))  # (B, T) -> (B, T + 2)") == ["1 after y (B, T + 2)", "1 before x (B, T)"]
    assert bound("y = self.proj(x)  # (B, T, C) -> (B, T, D)") == ["1 after y (B, T, D)", "1 before x (B, T, C)"]


def test_a_product_says_its_operands_and_never_a_variable_called_x() -> None:
    text = """
    x = f(y)
    s = q @ k  # (B, n, d) x (B, d, m) -> (B, n, m)
    """
    assert bound(text) == ["2 after s (B, n, m)", "2 operands (B, n, d) (B, d, m)"]


def test_tuple_targets_by_position_when_there_are_as_many_shapes() -> None:
    assert bound("out, attn = f(x)  # (B, T, d), (B, T, S)") == ["1 after out (B, T, d)", "1 after attn (B, T, S)"]
    assert bound("out, attn = f(x)  # (B, T, d)") == []
    assert bound("out, (h, c) = rnn(x)  # (B, T, d), ((L, B, d), (L, B, d))") == [
        "1 after out (B, T, d)",
        "1 after h (L, B, d)",
        "1 after c (L, B, d)",
    ]
    assert bound("state = rnn(x)  # ((L, B, d), (L, B, d))") == [
        "1 after state[0] (L, B, d)",
        "1 after state[1] (L, B, d)",
    ]
    assert bound("_, out = f(x)  # (B, T), (B, d)") == ["1 after out (B, d)"]


def test_tuple_targets_by_name() -> None:
    assert bound("out, attn = f(x)  # attn: (B, T, S), out: (B, T, d)") == [
        "1 after attn (B, T, S)",
        "1 after out (B, T, d)",
    ]


def test_a_trailing_name_that_is_another_variable_is_of_that_one() -> None:
    text = """
    def f(x, y):
        z = x + y
        w = z @ y  # z: (B, T, d), y: (d, d)
    """
    assert bound(text) == ["1 param y (d, d)", "2 after z (B, T, d)"]


def test_a_trailing_name_from_habit_is_not_said_of_the_parameter_for_sure() -> None:
    text = """
    def f(x, y):
        p = g(x).view(3, 4).transpose(0, 1)  # x: (B, T, d)
        q = p[0]  # x: (B, d)
        r = g(x)  # x: (B, d)
    """
    assert bound(text) == ["1 param x ~(B, d)", "1 param x (B, d)", "2 after x (B, T, d)"]


def test_a_trailing_name_beside_its_axes_in_another_order_may_be_said_of_either() -> None:
    text = """
    def f(x):
        y = x.transpose(0, 1)  # x: (T, B, d)
        return y
    """
    assert bound(text) == ["2 after x ~(T, B, d)"]


def test_a_line_between_two_shapes_is_said_to_begin_with_the_one_and_to_end_with_the_other() -> None:
    text = """
    out, state = cell(x)

    # out: [B, T, d]
    out = swap(out, [1, 0, 2])  # [T, B, d]
    """
    assert bound(text) == ["1 after out (B, T, d)", "4 after out (T, B, d)"]


def test_a_trailing_name_that_is_no_variable_is_of_the_target_and_not_sure() -> None:
    assert bound("e = f(x)  # energies: (B, T, S)") == ["1 after e ~(B, T, S)"]
    assert bound("e = f(x)  # output: (B, T, S)") == ["1 after e (B, T, S)"]


@pytest.mark.parametrize(
    "line",
    [
        "B, T, C = x.shape  # (B, T, C)",
        "B, T, C = x.size()  # (B, T, C)",
        "n = x.size(0)  # (B, T)",
        "shape = (2, 3)  # (B, T)",
        "dims = [1, 2]  # [B, T]",
        "n = len(x)  # (B, T)",
        "assert ok  # (B, T)",
    ],
)
def test_what_is_no_tensor_has_no_shape(line: str) -> None:
    assert bound(line) == []


def test_return() -> None:
    text = """
    def f(x):
        return x  # (B, T)
    def g(x):
        return x, y  # (B, T), (B, S)
    def h(x):
        a = x
        return a, b  # a: (B, T)
    """
    assert bound(text) == [
        "2 after  (B, T)",
        "4 after [0] (B, T)",
        "4 after [1] (B, S)",
        "7 after [0] (B, T)",
    ]


def test_parameters_and_the_def_line() -> None:
    text = """
    def f(
        x,  # (B, T, C)
        y=None,  # [batch size, src len]
    ):  # (B, T)
        pass
    def g(q, k):  # q: (B, T, d), k: (B, S, d)
        pass
    def h(q, k):  # (B, T, d), (B, S, d)
        pass
    def i(self, x):  # (B, T) -> (B, T, d)
        pass
    """
    assert bound(text) == [
        "1 param x (B, T, C)",
        "1 param y (batch size, src len)",
        "1 returns  (B, T)",
        "6 param q (B, T, d)",
        "6 param k (B, S, d)",
        "8 param q (B, T, d)",
        "8 param k (B, S, d)",
        "10 param x (B, T)",
        "10 returns  (B, T, d)",
    ]


def test_inside_a_statement_the_argument_that_ends_there() -> None:
    text = """
    y = torch.cat([
        a,  # (B, T, d)
        b.unsqueeze(1),  # (B, 1, d)
    ], dim=1)  # (B, T+1, d)
    z = (
        self.proj(y)  # (B, T, C)
        .transpose(1, 2)  # (B, C, T)
    )
    w = self.out(  # (B, T, V)
        z
    )
    """
    module = lower(textwrap.dedent(text).lstrip("\n"))
    contracts = ModuleContracts(module)
    assert bound(text) == ["1 after y (B, T + 1, d)", "5 after z (B, C, T)", "9 after w (B, T, V)"]
    spans = {(2, 4, 2, 5): "(B, T, d)", (3, 4, 3, 18): "(B, 1, d)", (6, 4, 6, 16): "(B, T, C)"}
    from shapedoc.source.ir import Assign, Call, Expr, Sequence

    found: dict[tuple[int, int, int, int], str] = {}

    def walk(node: Expr) -> None:
        for shape in contracts.at(node):
            found[node.span] = str(shape)
        match node:
            case Call(func=func, args=args):
                walk(func)
                for a in args:
                    walk(a)
            case Sequence(items=items):
                for i in items:
                    walk(i)
            case _:
                inner = getattr(node, "value", None)
                if isinstance(inner, Expr):
                    walk(inner)

    for stmt in module.body:
        assert isinstance(stmt, Assign)
        assert stmt.value is not None
        walk(stmt.value)
    assert found == spans


def test_a_list_keeps_what_is_appended() -> None:
    module = lower("outs.append(h.unsqueeze(1))  # (B, 1, d)\n")
    (stmt,) = module.body
    from shapedoc.source.ir import Call, ExprStmt

    assert isinstance(stmt, ExprStmt)
    assert isinstance(stmt.value, Call)
    assert [str(s) for s in ModuleContracts(module).at(stmt.value.args[0])] == ["(B, 1, d)"]


def test_a_printed_shape_is_of_the_variable() -> None:
    assert bound("x = f(y)\nprint(x.shape)  # (2, 5, 128)\n") == ["1 after x (2, 5, 128)"]


def test_own_line_with_a_name_below_the_assignment() -> None:
    text = """
    def forward(self, src):

        #src = [src len, batch size]

        embedded = self.embedding(src)

        #embedded = [src len, batch size, emb dim]

        outputs, hidden = self.rnn(embedded)

        #outputs = [src len, batch size, hid dim * n directions]
        #hidden = [n layers * n directions, batch size, hid dim]

        hidden = self.fc(hidden)
        return outputs, hidden
    """
    assert bound(text) == [
        "1 param src (src len, batch size)",
        "5 after embedded (src len, batch size, emb dim)",
        "9 after outputs (src len, batch size, hid dim*n directions)",
        "9 after hidden (n layers*n directions, batch size, hid dim)",
    ]


def test_own_line_with_a_name_above_the_assignment() -> None:
    text = """
    def forward(self, tokens):
        # x: (B, T, d)
        x = self.embed(tokens)

        # y: (B, d, T)
        y = x.transpose(1, 2)

        # x: (B, T, h)
        x = self.proj(x)
        return x
    """
    assert bound(text) == ["3 after x (B, T, d)", "6 after y (B, d, T)", "9 after x (B, T, h)"]


def test_own_line_between_two_values_of_one_name_is_not_sure() -> None:
    text = """
    def forward(self, tokens):
        x = self.embed(tokens)
        # x: (B, T, d)
        x = x.transpose(1, 2)
        return x
    """
    assert bound(text) == ["2 after x ~(B, T, d)"]


def test_a_name_refers_to_the_latest_value_however_far_above() -> None:
    text = """
    def f(self, a, b):
        k = a @ b
        v = g(a)
        w = g(b)
        # k: (B, S, d)
        return k @ v
    """
    assert bound(text) == ["2 after k (B, S, d)"]


def test_a_branch_keeps_its_own_comment_from_the_value_before_it() -> None:
    text = """
    def f(x, flag):
        y = g(x)
        if flag:
            # y: (B, T, d)
            z = y
        else:
            y = h(y)
        # y: (B, d)
        return y
    """
    assert bound(text) == ["2 after y ~(B, T, d)", "3 after y (B, d)"]


def test_what_is_said_of_a_parameter_in_one_branch_is_not_sure() -> None:
    text = """
    def count(frames, lengths=None, mask=None):
        if lengths is not None:
            # frames: (B, T, d)
            n = frames.size(0)
        if mask is not None:
            # mask: (B, T)
            frames = frames * mask
        return frames
    """
    assert bound(text) == ["1 param frames ~(B, T, d)", "1 param mask (B, T)"]


def test_a_list_of_parameters_at_the_beginning_is_of_them_even_where_one_is_replaced_below() -> None:
    text = """
    def forward(self, state, memory):
        # state (layers, B, d); memory (T, B, d)
        state = state.transpose(0, 1)
        return state, memory
    """
    assert bound(text) == ["1 param state (layers, B, d)", "1 param memory (T, B, d)"]


def test_two_parameters_that_are_replaced_below_are_said_of_either() -> None:
    text = """
    def forward(self, state, memory):
        # state: (B, n, width)
        # memory: (B, T, width)
        state = self.w_q(state)
        memory = self.w_k(memory)
        return state, memory
    """
    assert bound(text) == ["1 param memory ~(B, T, width)", "4 after state ~(B, n, width)"]


def test_above_a_step_that_lays_the_value_out_it_may_be_said_of_a_part_of_the_step() -> None:
    text = """
    def score(self, queries, keys):
        keys = self.w(keys)

        # keys: (B, 1, S, d)
        total = torch.tanh(queries + keys.unsqueeze(1))
        return total
    """
    assert bound(text) == ["2 after keys ~(B, 1, S, d)"]
    text = """
    def show(layer):
        n = 1

        # weights shape (B, H, T, T), the first example is drawn
        weights = layer.weights.cpu().numpy()[0]
        return weights
    """
    assert bound(text) == ["5 after weights ~(B, H, T, T)"]


def test_a_loop_variable_in_every_round() -> None:
    text = """
    for x_t in xs:  # x_t: (B, d)
        # h: (B, h)
        h = cell(x_t, h)
    """
    assert bound(text) == ["1 round x_t (B, d)", "3 after h (B, h)"]


def test_own_line_arrow_above_a_step() -> None:
    text = """
    y = f(x)

    # (B, T, C) -> (B, C, T)
    y = y.transpose(1, 2)

    # (B, q, d) x (B, d, k) -> (B, q, k)
    s = q @ k
    """
    assert bound(text) == [
        "4 after y (B, C, T)",
        "4 before y (B, T, C)",
        "7 after s (B, q, k)",
        "7 operands (B, q, d) (B, d, k)",
    ]


def test_own_line_without_a_name_is_only_near() -> None:
    assert bound("x = f(y)\n# (B, T, C)\nz = g(x)\n") == ["1 near (B, T, C)", "3 near (B, T, C)"]


def test_numbers_need_company() -> None:
    assert bound("x = f(y)  # (64, 1, 512)\n") == []
    text = """
    a = f(y)  # (B, T, d)
    b = f(y)  # (B, S, d)
    c = f(y)  # (B, d)
    x = f(y)  # (64, 1, 512)
    """
    assert bound(text)[-1] == "4 after x ~(64, 1, 512)"


def test_explicit_lines() -> None:
    text = """
    x = f(y)  # shapedoc: (foo, bar)
    # shapedoc: x (foo, bar)
    z = g(x)
    """
    assert bound(text) == ["1 after x (foo, bar)", "1 after x (foo, bar)"]


def test_of_two_lines_with_other_axes_the_last_is_said_and_explicit_ones_all() -> None:
    text = """
    y = f(z)

    # {0}x: (B, T, h, d)
    # {0}x: (B, T, d)
    x = g(y)
    """
    assert bound(text.format("")) == ["5 after x (B, T, d)"]
    assert bound(text.format("shapedoc: ")) == ["5 after x (B, T, h, d)", "5 after x (B, T, d)"]


def test_explicit_lines_that_are_of_nothing_are_unreadable() -> None:
    module = lower("# shapedoc: x (B, T)\n\nz = 1  # shapedoc: (B, T)\n# shapedoc: hello\n# shapedoc: ignore[SD101]\n")
    assert [(u.span[0], u.reason) for u in ModuleContracts(module).unreadable] == [
        (1, "no value called `x` is assigned near it"),
        (3, "it stands beside no value; say of which it is, as in `x (B, T, d)`"),
        (4, "no list of sizes in brackets is in it, as in `x (B, T, d)`"),
    ]


def test_the_span_of_a_bound_shape_is_in_the_file() -> None:
    text = "weights = f(x)   # weights: (B, S)\n"
    module = lower(text)
    (found,) = ModuleContracts(module).after(module.body[0])
    line, start, _, end = found.shape.span
    assert (line, text[start:end]) == (1, "(B, S)")


def test_a_module_that_states_nothing_is_empty() -> None:
    module = lower("import torch\nx = torch.zeros(2, 3)  # make it\n")
    contracts = ModuleContracts(module)
    assert contracts.after(module.body[1]) == []
    assert contracts.unreadable == []
