"""What torch's functions do inside: from the arguments of a kernel to those of the call above it.

`F.linear(x, w, b)` computes with addmm(self=b, mat1=x, mat2=w). Every entry is one function: its
parameters in the order of a call, and for each kernel below it which of the kernel's arguments is
which parameter. An argument that is not listed is computed inside and has no name in the source.
test_names.py runs the functions and compares what each kernel really gets.

A kernel of the same name as the function needs no entry: its schema is the signature.

Nothing but data, for whoever reads source text; it needs no torch. The build installs it as
nanscope.telling.composites.
"""

from __future__ import annotations

Kernels = dict[str, dict[str, str]]

_FIRST = {"self": "input"}
_CONVOLUTION = {"input": "input", "self": "input", "weight": "weight", "bias": "bias"}
_NORM = {name: name for name in ("input", "weight", "bias", "running_mean", "running_var")}
_MATRIX = {"A": "input", "self": "input"}
_LOSS = {"self": "input", "target": "target", "weight": "weight"}
_ATTENTION = {name: name for name in ("query", "key", "value", "attn_mask")}

# function -> (parameters, {kernel: {its argument: the parameter}})
COMPOSITES: dict[str, tuple[str, Kernels]] = {
    "linear": (
        "input weight bias",
        {
            "addmm": {"self": "bias", "mat1": "input", "mat2": "weight"},
            "mm": {"self": "input", "mat2": "weight"},
            "mkldnn_linear": {"self": "input", "weight": "weight", "bias": "bias"},
            "mv": {"self": "weight", "vec": "input"},
            "addmv": {"self": "bias", "mat": "weight", "vec": "input"},
        },
    ),
    "bilinear": (
        "input1 input2 weight bias",
        {"_trilinear": {"i1": "input1", "i2": "weight", "i3": "input2"}},
    ),
    "embedding": (
        "input weight",
        {
            "embedding": {"weight": "weight", "indices": "input"},
            "index_select": {"self": "weight"},
        },
    ),
    "batch_norm": (
        "input running_mean running_var weight bias",
        dict.fromkeys(
            (
                "native_batch_norm",
                "_native_batch_norm_legit",
                "_native_batch_norm_legit_no_training",
                "_batch_norm_with_update",
                "_batch_norm_no_update",
                "_batch_norm_impl_index",
            ),
            _NORM,
        ),
    ),
    "layer_norm": ("input normalized_shape weight bias", {"native_layer_norm": _NORM}),
    "group_norm": ("input num_groups weight bias", {"native_group_norm": _NORM}),
    "rms_norm": (
        "input normalized_shape weight eps",
        {"_fused_rms_norm": {"input": "input", "weight": "weight"}, "pow": _FIRST},
    ),
    "instance_norm": ("input", {"native_batch_norm": {"input": "input"}}),
    "dropout": ("input p training inplace", {"native_dropout": {"input": "input"}, "mul": _FIRST}),
    "softmax": ("input dim", {"_softmax": _FIRST}),
    "log_softmax": ("input dim", {"_log_softmax": _FIRST}),
    "logsumexp": ("input dim", {"amax": _FIRST, "sub": _FIRST}),
    "logsigmoid": ("input", {"log_sigmoid_forward": _FIRST}),
    "selu": ("input", {"elu": _FIRST}),
    "softsign": ("input", {"abs": _FIRST, "div": _FIRST}),
    "prelu": ("input weight", {"_prelu_kernel": {"self": "input", "weight": "weight"}}),
    "square": ("input", {"pow": _FIRST}),
    "mean": ("input dim", {"sum": _FIRST}),
    "max": ("input other", {"maximum": {"self": "input", "other": "other"}, "amax": _FIRST}),
    "min": ("input other", {"minimum": {"self": "input", "other": "other"}, "amin": _FIRST}),
    "norm": ("input p dim", {"linalg_vector_norm": _FIRST}),
    "vector_norm": ("input ord dim", {"linalg_vector_norm": _FIRST}),
    "matrix_norm": ("input ord dim", {"linalg_vector_norm": _FIRST}),
    "normalize": ("input p dim eps out", {"linalg_vector_norm": _FIRST, "div": _FIRST}),
    "cdist": ("input1 input2", {"_cdist_forward": {"x1": "input1", "x2": "input2"}}),
    "cross_entropy": (
        "input target weight",
        {
            "_log_softmax": _FIRST,
            "nll_loss_forward": {"target": "target", "weight": "weight"},
            "nll_loss2d_forward": {"target": "target", "weight": "weight"},
        },
    ),
    "nll_loss": ("input target weight", {"nll_loss_forward": _LOSS, "nll_loss2d_forward": _LOSS}),
    "binary_cross_entropy_with_logits": ("input target weight", {"log_sigmoid_forward": _FIRST}),
    "l1_loss": ("input target", {"sub": {"self": "input", "other": "target"}}),
    "kl_div": ("input target", {"xlogy": {"self": "target", "other": "target"}}),
    "ctc_loss": (
        "log_probs targets input_lengths target_lengths",
        {
            "_ctc_loss": {
                "log_probs": "log_probs",
                "targets": "targets",
                "input_lengths": "input_lengths",
                "target_lengths": "target_lengths",
            }
        },
    ),
    "scaled_dot_product_attention": (
        "query key value attn_mask",
        {
            "_scaled_dot_product_flash_attention_for_cpu": _ATTENTION,
            "_scaled_dot_product_attention_math": _ATTENTION,
        },
    ),
    "max_pool2d": ("input", {"max_pool2d_with_indices": _FIRST}),
    "max_pool3d": ("input", {"max_pool3d_with_indices": _FIRST}),
    "max_pool1d": ("input", {"max_pool2d_with_indices": _FIRST}),
    "adaptive_avg_pool2d": ("input", {"_adaptive_avg_pool2d": _FIRST, "mean": _FIRST}),
    "pad": (
        "input",
        dict.fromkeys(("constant_pad_nd", "reflection_pad1d", "reflection_pad2d"), _FIRST),
    ),
    "cholesky": ("input", {"linalg_cholesky_ex": _MATRIX}),
    "inv": ("input", {"linalg_inv_ex": _MATRIX}),
    "inverse": ("input", {"linalg_inv_ex": _MATRIX}),
    "solve": ("input other", {"_linalg_solve_ex": {"A": "input", "B": "other"}}),
    "det": ("input", {"_linalg_det": _MATRIX}),
    "logdet": ("input", {"_linalg_slogdet": _MATRIX}),
    "slogdet": ("input", {"_linalg_slogdet": _MATRIX}),
    "svd": ("input", {"_linalg_svd": _MATRIX}),
    "svdvals": ("input", {"_linalg_svd": _MATRIX}),
    "eigh": ("input", {"_linalg_eigh": _MATRIX}),
    "eigvalsh": ("input", {"_linalg_eigh": _MATRIX}),
    **{
        name: (
            "input weight bias",
            dict.fromkeys(
                (
                    "convolution",
                    "_convolution",
                    "convolution_overrideable",
                    "mkldnn_convolution",
                    "_slow_conv2d_forward",
                    "slow_conv3d_forward",
                    "slow_conv_transpose2d",
                    "slow_conv_transpose3d",
                    "_nnpack_spatial_convolution",
                    "_conv_depthwise2d",
                ),
                _CONVOLUTION,
            ),
        )
        for name in ("conv1d", "conv2d", "conv3d")
        + ("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
    },
    # The host reads a value.
    **{
        name: ("input", {"_local_scalar_dense": _FIRST})
        for name in ("item", "int", "bool", "tolist")
    },
    # A copy, perhaps in another dtype.
    **{
        name: ("input", {"_to_copy": _FIRST, "clone": _FIRST, "copy": {"src": "input"}})
        for name in ("to", "half", "double", "bfloat16", "type", "cpu", "contiguous", "type_as")
    },
    "clone": ("input", {"copy": {"src": "input"}}),
    "float": (
        "input",
        {"_to_copy": _FIRST, "copy": {"src": "input"}, "_local_scalar_dense": _FIRST},
    ),
}

# Other names of the same function.
ALIASES = {
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "clip": "clamp",
    "concat": "cat",
    "concatenate": "cat",
    "divide": "div",
    "expit": "sigmoid",
    "fix": "trunc",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "multiply": "mul",
    "negative": "neg",
    "not_equal": "ne",
    "subtract": "sub",
    "true_divide": "div",
}

# The class of torch.nn that defines forward -> the function which that calls, with the same inputs
# and the parameters of the module.
MODULES = {
    "Linear": "linear",
    "Bilinear": "bilinear",
    "Embedding": "embedding",
    "LayerNorm": "layer_norm",
    "GroupNorm": "group_norm",
    "RMSNorm": "rms_norm",
    "PReLU": "prelu",
    "ReLU": "relu",
    "LeakyReLU": "leaky_relu",
    "ELU": "elu",
    "SELU": "selu",
    "GELU": "gelu",
    "SiLU": "silu",
    "Mish": "mish",
    "Softplus": "softplus",
    "Softsign": "softsign",
    "Sigmoid": "sigmoid",
    "Tanh": "tanh",
    "LogSigmoid": "logsigmoid",
    "Softmax": "softmax",
    "LogSoftmax": "log_softmax",
    "Dropout": "dropout",
    "CrossEntropyLoss": "cross_entropy",
    "NLLLoss": "nll_loss",
    "MSELoss": "mse_loss",
    "L1Loss": "l1_loss",
    "SmoothL1Loss": "smooth_l1_loss",
    "HuberLoss": "huber_loss",
    "BCELoss": "binary_cross_entropy",
    "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "KLDivLoss": "kl_div",
    "CTCLoss": "ctc_loss",
    "MaxPool1d": "max_pool1d",
    "MaxPool2d": "max_pool2d",
    "MaxPool3d": "max_pool3d",
    "AvgPool2d": "avg_pool2d",
    "AdaptiveAvgPool2d": "adaptive_avg_pool2d",
    "_BatchNorm": "batch_norm",
    "_InstanceNorm": "instance_norm",
    **{f"Conv{d}d": f"conv{d}d" for d in (1, 2, 3)},
    **{f"ConvTranspose{d}d": f"conv_transpose{d}d" for d in (1, 2, 3)},
}

# Parameters that a module holds as attributes of the same name.
HELD = ("weight", "bias", "running_mean", "running_var")
