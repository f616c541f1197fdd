"""Laws of what is known of sizes: comparing, learning, quotients, branches and ranks."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from shapedoc.core.dim import ONE, ZERO, Dim, Sym
from shapedoc.core.shape import Axis, Run, Shape
from shapedoc.core.sizes import LETTER, Kind, Sizes, Strength

RIGID = [Sym("d", owner="f"), Sym("h", owner="f"), Sym("B", value=3), Sym("T", value=5)]
FLEXIBLE = [Sym("n", flexible=True), Sym("m", flexible=True), Sym(flexible=True), Sym(flexible=True)]


@st.composite
def dims(draw: st.DrawFn, syms: Sequence[Sym] = (*RIGID, *FLEXIBLE)) -> Dim:
    """A size as code writes them: a product of a few symbols and a number, now and then with something added."""
    product = Dim.of(draw(st.integers(1, 3)))
    for sym in draw(st.lists(st.sampled_from(list(syms)), max_size=2)):
        product = product * Dim.of(sym)
    return product + draw(st.sampled_from([0, 0, 0, 1]))


# -- comparing


@given(dims(), dims())
def test_comparing_is_symmetric(a: Dim, b: Dim) -> None:
    sizes = Sizes()
    one, other = sizes.compare(a, b), sizes.compare(b, a)
    assert (one.kind, one.strength) == (other.kind, other.strength)


@given(dims())
def test_a_size_is_itself(a: Dim) -> None:
    assert Sizes().compare(a, a).kind is Kind.ALWAYS


@given(dims(), dims())
def test_comparing_learns_nothing(a: Dim, b: Dim) -> None:
    sizes = Sizes()
    sizes.compare(a, b)
    assert not sizes.bindings


@given(dims(), dims(), st.lists(st.integers(1, 6), min_size=8, max_size=8))
def test_never_means_never(a: Dim, b: Dim, numbers: list[int]) -> None:
    values = {s: n if s.value is None else s.value for s, n in zip((*RIGID, *FLEXIBLE), numbers, strict=True)}
    put_in = {s: Dim.of(n) for s, n in values.items()}
    same = a.substitute(put_in) == b.substitute(put_in)
    match Sizes().compare(a, b).kind:
        case Kind.NEVER:
            assert not same
        case Kind.ALWAYS:
            assert same
        case _:
            pass


def test_names_are_in_generic_position() -> None:
    sizes = Sizes()
    d, h = (Dim.of(s) for s in RIGID[:2])
    found = sizes.compare(d, h)
    assert (found.kind, found.strength, found.when) == (Kind.ONLY_IF, Strength.WEAK, "d == h")
    assert sizes.compare(d, d + 1).kind is Kind.NEVER
    assert sizes.compare(2 * d, Dim.of(5)).kind is Kind.NEVER
    assert sizes.compare(d, d * h).when == "h == 1"
    assert sizes.compare(d, Dim.of(4)).kind is Kind.ONLY_IF
    assert sizes.compare(d, Dim.of(Sym(flexible=True))).kind is Kind.UNKNOWN


def test_apart_is_strong_and_its_own() -> None:
    sizes = Sizes()
    d, h, k = Dim.of(RIGID[0]), Dim.of(RIGID[1]), Dim.of(Sym("k", owner="g"))
    sizes.apart(d, k)
    assert sizes.compare(d, k).strength is Strength.STRONG
    assert sizes.compare(d, k).wrong
    assert not sizes.compare(d, h).wrong
    assert sizes.compare(h, k).strength is Strength.NONE


def test_numbers_decide() -> None:
    sizes = Sizes()
    b, t = (Dim.of(s) for s in RIGID[2:])
    assert sizes.compare(b, t).kind is Kind.NEVER
    assert sizes.compare(b, Dim.of(3)).kind is Kind.ALWAYS
    assert sizes.compare(b, Dim.of(Sym("k", value=3))).kind is Kind.ONLY_IF


# -- learning


@given(dims(), dims())
def test_what_is_learnt_holds(a: Dim, b: Dim) -> None:
    sizes = Sizes()
    if sizes.meet(a, b).kind is Kind.ALWAYS:
        left, right = sizes.resolve(a), sizes.resolve(b)
        assert left == right or left.value == right.value is not None


@given(dims(), dims())
def test_meeting_twice_says_the_same(a: Dim, b: Dim) -> None:
    sizes = Sizes()
    first = sizes.meet(a, b)
    assert sizes.meet(a, b).kind is first.kind
    assert sizes.meet(b, a).kind is first.kind


@given(st.lists(st.tuples(dims(), dims()), max_size=6))
def test_resolving_ends_and_is_idempotent(pairs: list[tuple[Dim, Dim]]) -> None:
    sizes = Sizes()
    for a, b in pairs:
        sizes.meet(a, b)
    for a, _ in pairs:
        resolved = sizes.resolve(a)
        assert sizes.resolve(resolved) == resolved
        assert resolved.syms.isdisjoint(sizes.bindings)


@given(st.lists(st.tuples(dims(), dims()), max_size=6))
def test_a_rigid_size_is_never_learnt(pairs: list[tuple[Dim, Dim]]) -> None:
    sizes = Sizes()
    for a, b in pairs:
        sizes.meet(a, b)
    assert sizes.bindings.keys().isdisjoint(RIGID)


def test_a_nameless_size_takes_the_name() -> None:
    for flip in (False, True):
        sizes = Sizes()
        named, nameless = Dim.of(Sym("n", flexible=True)), Dim.of(Sym(flexible=True))
        sizes.meet(*((nameless, named) if flip else (named, nameless)))
        assert sizes.resolve(nameless) == named


def test_a_size_with_a_number_keeps_it() -> None:
    for flip in (False, True):
        sizes = Sizes()
        known, unknown = Dim.of(Sym("B", value=3, flexible=True)), Dim.of(Sym("n", flexible=True))
        sizes.meet(*((known, unknown) if flip else (unknown, known)))
        assert sizes.resolve(unknown).value == 3


def test_a_factor_is_solved() -> None:
    sizes = Sizes()
    c, h, d = Dim.of(Sym("C", flexible=True)), Dim.of(RIGID[1]), Dim.of(Sym(flexible=True))
    sizes.meet(c, h * d)
    assert sizes.resolve(c) == h * d
    sizes.meet(h * d, h * 4)
    assert sizes.resolve(c) == 4 * h


# -- quotients


def test_an_exact_quotient_is_exact() -> None:
    sizes = Sizes()
    d, h = (Dim.of(s) for s in RIGID[:2])
    assert sizes.floordiv(d * h, h) == d
    assert sizes.floordiv(Dim.of(7), Dim.of(2)) == 3


def test_a_quotient_is_assumed_to_divide() -> None:
    sizes = Sizes()
    d, h = (Dim.of(s) for s in RIGID[:2])
    quotient = sizes.floordiv(d, h)
    assert sizes.compare(h * quotient, d).kind is Kind.ALWAYS
    assert sizes.floordiv(d, h) == quotient
    assert sizes.show(quotient) == "d//h"
    assert sizes.show(h * quotient) == "d"
    assert sizes.show(3 * d) == "3*d"
    assert sizes.show(d + 1) == "d + 1"


@given(st.permutations([0, 1, 2]))
def test_quotients_of_one_size_agree_in_any_order(order: list[int]) -> None:
    sizes = Sizes()
    d, h = (Dim.of(s) for s in RIGID[:2])
    divisors = [Dim.of(2), h, 2 * h]
    quotients = {i: sizes.floordiv(d, divisors[i]) for i in order}
    for i, quotient in quotients.items():
        assert sizes.compare(divisors[i] * quotient, d).kind is Kind.ALWAYS
    assert sizes.compare(quotients[0], h * quotients[2]).kind is Kind.ALWAYS
    assert sizes.show(quotients[1]) == "d//h"
    assert sizes.show(quotients[0]) == "d//2"


@given(st.integers(1, 60), st.integers(1, 9), st.integers(1, 4))
def test_quotients_of_numbers_are_right(d: int, h: int, more: int) -> None:
    sizes = Sizes()
    whole, part = Dim.of(Sym("d", value=d)), Dim.of(Sym("h", value=h))
    quotient = sizes.floordiv(whole, part)
    assert quotient.value == d // h
    assert sizes.floordiv(quotient, Dim.of(more)).value == d // h // more
    assert sizes.resolve(whole).value == d


def test_numbers_that_do_not_divide_prove_nothing() -> None:
    sizes = Sizes()
    d, h = Dim.of(Sym("d", value=10)), Dim.of(Sym("h", value=4))
    assert sizes.compare(h * sizes.floordiv(d, h), d).kind is Kind.NEVER


def test_what_a_division_rounds_off_is_no_difference() -> None:
    sizes = Sizes()
    n = Dim.of(Sym("n", owner="f"))
    half = sizes.floordiv(n, Dim.of(2))
    assert sizes.compare(half + half + 1, n).kind is Kind.UNKNOWN
    assert sizes.compare(half + half + 2, n).kind is Kind.NEVER


def test_a_letter_of_a_pattern_makes_no_difference() -> None:
    sizes = Sizes()
    j = Dim.of(Sym("j", flexible=True))
    letter = sizes.called(Dim.of(Sym(flexible=True)), "i", origin=LETTER)
    assert sizes.compare(j + letter, j).kind is Kind.UNKNOWN
    assert sizes.compare(j + Dim.of(Sym("i", flexible=True)), j).kind is Kind.NEVER


def test_what_heads_leave_of_a_width_is_mostly_1() -> None:
    d, h, k = (Dim.of(Sym(name, owner="f")) for name in ("d", "h", "k"))
    sizes = Sizes()
    left = sizes.floordiv(d, h * k)
    assert sizes.compare(d * left, d).strength is not Strength.STRONG
    sizes = Sizes()
    head = sizes.floordiv(d, h)
    assert sizes.compare(d * head, d).strength is Strength.STRONG


def test_a_product_divides_by_what_another_branch_has_split() -> None:
    sizes = Sizes()
    heads, groups, n = (Dim.of(Sym(name, owner="f")) for name in ("heads", "groups", "n"))
    repeats = sizes.fork().floordiv(heads, groups)
    assert sizes.floordiv(n * groups * repeats, heads) == n


def test_what_is_no_size_differs_from_none() -> None:
    sizes = Sizes()
    n, m = (Dim.of(Sym(name, flexible=True)) for name in "nm")
    assert sizes.compare(1 - n, m).kind is Kind.UNKNOWN
    assert sizes.compare(2 - n, m).kind is not Kind.NEVER
    assert sizes.compare(n + 1, n).kind is Kind.NEVER


# -- branches


def test_a_fork_learns_by_itself() -> None:
    sizes = Sizes()
    n = Dim.of(Sym("n", flexible=True))
    fork = sizes.fork()
    fork.meet(n, Dim.of(4))
    assert fork.resolve(n) == 4
    assert sizes.resolve(n) == n


def test_a_join_keeps_what_all_branches_say() -> None:
    sizes = Sizes()
    n, m, k = (Dim.of(Sym(name, flexible=True)) for name in "nmk")
    sizes.meet(k, Dim.of(7))
    one, other = sizes.fork(), sizes.fork()
    for branch in (one, other):
        branch.meet(n, Dim.of(4))
    one.meet(m, Dim.of(5))
    other.meet(m, Dim.of(6))
    sizes.join([one, other])
    assert sizes.resolve(n) == 4
    assert sizes.resolve(k) == 7
    assert sizes.resolve(m) == m


def test_a_quotient_holds_in_both_branches() -> None:
    sizes = Sizes()
    d, h = (Dim.of(s) for s in RIGID[:2])
    one, other = sizes.fork(), sizes.fork()
    first, second = one.floordiv(d, h), other.floordiv(d, h)
    assert first == second
    assert other.compare(h * second, d).kind is Kind.ALWAYS


def test_a_quotient_that_is_bound_to_what_it_divides_is_put_in_once() -> None:
    """Each time it is put in, the size grows: comparing must end, and say that nothing is known."""
    sizes = Sizes()
    d, h, n = (Dim.of(s) for s in (*RIGID[:2], FLEXIBLE[0]))
    branch = sizes.fork()
    quotient = branch.floordiv(d, h)
    assert quotient.sym is not None
    sizes.remember(branch)
    assert sizes.bind(quotient.sym, d * n)
    assert not sizes.compare(d + 1, n).wrong


# -- ranks


def test_ranks_are_known_backwards_and_forwards() -> None:
    for known_first in (False, True):
        for tell in (0, 1):
            sizes = Sizes()
            less, more = Run(), Run()
            if not known_first:
                sizes.relate_ranks(more, less, 1)
            sizes.bind_run((less, more)[tell], tuple(Axis(Dim.of(i + 2)) for i in range(2 + tell)))
            if known_first:
                sizes.relate_ranks(more, less, 1)
            assert sizes.shape(Shape((less,))).rank == 2
            assert sizes.shape(Shape((more,))).rank == 3


def test_a_rank_goes_through_axes_that_were_learnt() -> None:
    sizes = Sizes()
    run, rest, other = Run(), Run(), Run()
    sizes.bind_run(run, (rest, Axis(Dim.of(4))))
    sizes.relate_ranks(other, run, 0)
    sizes.bind_run(other, (Axis(ONE), Axis(ONE), Axis(ONE)))
    assert sizes.shape(Shape((run,))).rank == 3
    assert str(sizes.shape(Shape((run,))).suffix[-1]) == "4"


def test_roles_are_remembered_by_identity() -> None:
    sizes = Sizes()
    axis, other = Axis(Dim.of(2)), Axis(Dim.of(2))
    sizes.mark(axis, "feature", 7)
    assert sizes.role(axis, "feature") == 7
    assert sizes.role(axis.sized(Dim.of(3)), "feature") == 7
    assert sizes.role(other, "feature") is None
    assert sizes.role(other.merged(axis), "feature") == 7
    assert sizes.fork().role(axis, "feature") == 7


def test_nothing_is_learnt_where_nothing_is() -> None:
    sizes = Sizes()
    n = Dim.of(Sym("n", flexible=True))
    assert sizes.meet(ZERO, n).kind is Kind.UNKNOWN
    assert sizes.meet(n, ZERO).kind is Kind.UNKNOWN
    assert sizes.resolve(n) == n


def test_what_one_branch_takes_for_one_size_sets_nothing_apart_after_it() -> None:
    sizes = Sizes()
    queries, keys, values = (Sym(name, flexible=True) for name in ("L_Q", "L_K", "L_V"))
    sizes.apart(queries, keys)
    asserted, other = sizes.fork(), sizes.fork()
    asserted.bind(queries, Dim.of(values))
    assert asserted.compare(Dim.of(values), Dim.of(keys)).wrong
    sizes.join([asserted, other])
    assert not sizes.compare(Dim.of(values), Dim.of(keys)).wrong
    assert sizes.compare(Dim.of(queries), Dim.of(keys)).wrong


def test_two_names_for_one_size_are_apart_from_what_both_are_apart_from() -> None:
    sizes = Sizes()
    batch, queries, keys, values = (Sym(name, flexible=True) for name in ("B", "L_Q", "L_K", "L_V"))
    sizes.apart(batch, queries)
    sizes.apart(batch, values)
    sizes.apart(queries, keys)
    assert sizes.equate(Dim.of(queries), Dim.of(values))
    assert sizes.compare(Dim.of(values), Dim.of(batch)).wrong
    assert not sizes.compare(Dim.of(values), Dim.of(keys)).wrong


def test_a_sum_is_more_than_its_number_of_parts() -> None:
    sizes = Sizes()
    left, right, named = sizes.fresh(), sizes.fresh(), Dim.of(Sym("d"))
    assert sizes.meet(left + right, Dim.of(1)).kind is Kind.NEVER
    assert sizes.compare(2 * named + right, Dim.of(2)).kind is Kind.NEVER
    assert sizes.compare(left + right, Dim.of(2)).kind is not Kind.NEVER


def test_a_quotient_is_of_the_owner_of_what_is_divided() -> None:
    sizes = Sizes()
    width, heads, words = (Dim.of(Sym(n, owner="Model")) for n in ("width", "heads", "words"))
    before = sizes.compare(width, words).strength
    sizes.floordiv(width, heads, owner="Heads.forward")
    assert sizes.compare(width, words).strength is before is Strength.WEAK


def test_a_size_that_another_branch_divided_is_the_same_size() -> None:
    sizes = Sizes()
    width, heads = (Dim.of(Sym(n, owner="Model")) for n in ("width", "heads"))
    branch, other = sizes.fork(), sizes.fork()
    size = heads * branch.floordiv(width, heads)
    sizes.join([other, branch])
    assert sizes.compare(size, width).kind is Kind.ALWAYS
