"""The words that authors use for sizes, and those that look like sizes and are none.

Nothing is concluded from a word but whether a list may be a shape: ``(batch, time)`` may, ``(key, value)`` is a pair
of tensors, ``(min, max)`` an interval, ``(int, optional)`` a type.
"""

from __future__ import annotations

__all__ = [
    "ALIASES",
    "AXES",
    "BATCH",
    "CONTAINERS",
    "NEVER",
    "NOT_NAMES",
    "NOT_TENSORS",
    "PAIRS",
    "ROLES",
    "SIZES",
    "SIZE_OWNERS",
    "STOP",
    "words",
]


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


# A word by which a name is the name of a size, alone or within `src_len`, `enc hid dim`.
SIZES = words(
    """batch batchsize bs bsz bsize minibatch size sz len length dim dims dimension dimensions width depth height
    seq seqlen vocab channels channel chans chan heads nheads nhead head layers nlayers steps step time timesteps
    timestep tokens hid hsz emb embed embd rnn_size directions classes patches pixels frames frame units
    num n max maxlen qlen klen vlen slen tlen mlen slots spans beams beam experts groups windows blocks
    samples sequence position positions nodes edges objects queries keys regions dmodel dhead hdim hidsize mels mel
    samp tstep tsteps chunk chunks anchors levels bins neighbors nfeat nfeats features feats feat hiddens words chars
    sentences"""
)
# Of a tensor or its use: no size alone, but often short for one in a list that has others.
ROLES = words(
    """src tgt trg source target input output in out inp hidden encoder decoder enc dec embedding embeddings query key
    value q k v mem memory context ctx attn attention model inner ffn ff proj features feature state states
    depth layer token word char text image img time h w c x y z u i j e queries keys samples words chars
    sentences position positions per of all total number count label labels class score scores nodes edges tokens"""
)
# Never in a shape.
NEVER = words(
    """int float str bool bytes list tuple dict set none true false optional default type tensor tensors array ndarray
    floattensor longtensor object callable any union iterable iterator sequence_type module function lr id ids idx
    index indices ok eg ie etc epoch min mean std var loss acc accuracy bleu ppl eos sos bos pad unk cls sep mask
    start end begin left right top bottom true_label sin cos tanh relu sigmoid softmax exp log sqrt sum argmax abs
    yes no cpu gpu cuda train valid val test dev todo fixme note see cf fig eq sec section table et al refs device
    dtype path file filename dir name names url args kwargs self cls seed row col logits logit probs prob pred preds
    dropout momentum gold weights weight bias grad param params key_value k_cache v_cache cell"""
)
# Words that make a list prose.
STOP = words(
    """the a an is are was be been not if when we you this that these those and for with as to from by on at it its
    has have can will would should must may used use using only but so then than there here which where while because
    see e.g i.e instead also each every both one two our they them same like into without no after before return
    returns get set do does done don't make sure just more less"""
)
# First axes of a shape, where the rest is single lower-case letters.
BATCH = words("b n bs bsz b_s nb t s l m bn batch batch_size bsize bz B N T S L 1")
# Capital letters that axes have.
AXES = frozenset("BNTSLDHCEVKFMGQW")
# Lower-case letters that are no shape when they are all there is.
PAIRS = (
    frozenset("ijk"),
    frozenset("xyzw"),
    frozenset("hc"),
    frozenset("qkv"),
    frozenset("ab"),
    frozenset("hw"),
    frozenset("mn"),
    frozenset("st"),
    frozenset("uv"),
    frozenset("pq"),
    frozenset("wb"),
    frozenset("io"),
)
# Tokens of a comma list without brackets.
ALIASES = words(
    """b bs bsz b_s nb n t s l m d e h nh hs hd c k dk dv d_k d_v nk nq q p g v w f r o x batch batch_size seq
    seq_len src_len tgt_len trg_len d_model n_heads num_heads head_dim hidden_size hidden_dim emb_dim embed_dim dim
    heads n_head max_len q_len k_len vocab vocab_size vocabsize channels height width window_size num_layers n_layers
    d_head d_h nw num_win hidden_sz in_dim out_dim in_features out_features num_patches n_embd embed_size
    embedding_dim time steps nwords ch cin cout len length num_tokens n_tokens"""
)
# What stands before a list of values.
NOT_TENSORS = words(
    """kernel kernel_size stride strides padding dilation sizes channels depths range interval default defaults
    options choices axes axis order permutation perm lens lengths lr betas eps version versions fig figure eq
    equation table section sec note e.g example ids tokens indices index idx layers blocks values vals choices seeds
    steps limits bounds epochs grid params parameters arguments args inputs_dict cfg config labels classes usage
    shape_list hidden_sizes hidden_dims filters filter_sizes out_channels in_channels num_heads_list milestones
    window patch crop resize resolution resolutions dims between in within to like
    eos sos pad bos unk vocab chars words sentence probabilities weights_list"""
)
# Names of what is no tensor, whatever the list beside it says.
CONTAINERS = words(
    """config cfg conf args kwargs params parameters arguments hparams settings options usage signature call order eg
    axes axis"""
)
# Words before a list that are no variables, beside those of STOP.
NOT_NAMES = words(
    """shape size dim dims returned tensor tensors gets gives give into reshape transpose permute view concat squeeze
    unsqueeze becomes become yields yield resize note desired current final new where shapes sizes dimension
    dimensions"""
)
# `batch size: 32, 64` is a list of sizes.
SIZE_OWNERS = words("batch hidden vocab kernel window patch image embedding embed head filter chunk step")
