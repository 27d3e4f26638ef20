"""Expressions for test_names.py, which has the variables they speak of."""

# expression -> (op, names of its tensors)
NAMED = [
    ("x / y", "div", ["x", "y"]),
    ("x / 2", "div", ["x"]),
    ("1 / x", "reciprocal", ["x"]),
    ("lam / x", "reciprocal", ["x"]),
    ("2 - x", "rsub", ["x"]),
    ("x - y", "sub", ["x", "y"]),
    ("x + y", "add", ["x", "y"]),
    ("1 + x", "add", ["x"]),
    ("x + 1e-8", "add", ["x"]),
    ("-2 * x", "mul", ["x"]),
    ("len(parts) * x", "mul", ["x"]),
    ("x * (y + 1)", "mul", ["x", "y + 1"]),
    ("torch.tanh(x) * lam", "mul", ["torch.tanh(x)"]),
    ("lam * x.exp()", "mul", ["x.exp()"]),
    ("x[:, 0] + lam", "add", ["x[:, 0]"]),
    ("x ** y", "pow", ["x", "y"]),
    ("x ** 0.5", "pow", ["x"]),
    ("2 ** x", "pow", ["x"]),
    ("x // y", "floor_divide", ["x", "y"]),
    ("x % y", "remainder", ["x", "y"]),
    ("-x", "neg", ["x"]),
    ("~mask", "bitwise_not", ["mask"]),
    ("mask & mask", "bitwise_and", ["mask", "mask"]),
    ("x < y", "lt", ["x", "y"]),
    ("0 < x", "gt", ["x"]),
    ("x == y", "eq", ["x", "y"]),
    ("0 == x", "eq", ["x"]),
    ("abs(x)", "abs", ["x"]),
    ("pow(x, y)", "pow", ["x", "y"]),
    ("x3 @ y3", "bmm", ["x3", "y3"]),
    ("v @ u", "dot", ["v", "u"]),
    ("torch.bmm(x3, y3)", "bmm", ["x3", "y3"]),
    ("torch.mm(x, y)", "mm", ["x", "y"]),
    ("x.mm(y)", "mm", ["x", "y"]),
    ("torch.addmm(z, x, y)", "addmm", ["z", "x", "y"]),
    ("torch.baddbmm(x3, x3, y3)", "baddbmm", ["x3", "x3", "y3"]),
    ("p.log()", "log", ["p"]),
    ("torch.log(p)", "log", ["p"]),
    ("torch.log(input=p)", "log", ["p"]),
    ("torch.log(p, out=z)", "log", ["p", "z"]),
    ("p.log_()", "log_", ["p"]),
    ("(x + y).log()", "log", ["x + y"]),
    ("torch.log(torch.sum(x, 1) / n)", "log", ["torch.sum(x, 1) / n"]),
    ("d['k'].sqrt()", "sqrt", ["d['k']"]),
    ("x.div(y)", "div", ["x", "y"]),
    ("torch.div(x, y, rounding_mode='floor')", "div", ["x", "y"]),
    ("torch.true_divide(x, other=y)", "div", ["x", "y"]),
    ("x.add_(y, alpha=2)", "add_", ["x", "y"]),
    ("torch.addcdiv(x, y, z, value=2)", "addcdiv", ["x", "y", "z"]),
    ("torch.where(x > 1, a, b)", "where", ["x > 1", "a", "b"]),
    ("x.where(y > 1, z)", "where", ["y > 1", "x", "z"]),
    ("torch.where(x > 1, a, 0.0)", "where", ["x > 1", "a", "0.0"]),
    ("x.masked_fill(mask, -1.0)", "masked_fill", ["x", "mask"]),
    ("x.clamp(min=y)", "clamp", ["x", "y"]),
    ("torch.maximum(x, y)", "maximum", ["x", "y"]),
    ("torch.max(x, y)", "maximum", ["x", "y"]),
    ("torch.cat([a, b, c])", "cat", ["a", "b", "c"]),
    ("torch.cat((a, x * 2))", "cat", ["a", "x * 2"]),
    ("torch.cat(parts)", "cat", ["parts[0]", "parts[1]"]),
    ("torch.stack(tensors=parts)", "stack", ["parts[0]", "parts[1]"]),
    ("torch.cat([v, *parts])", "cat", ["v", None, None]),
    ("torch.xlogy(x, y)", "xlogy", ["x", "y"]),
    ("torch.special.xlogy(x, y)", "xlogy", ["x", "y"]),
    ("torch.hypot(x, y)", "hypot", ["x", "y"]),
    ("torch.lerp(x, y, z)", "lerp", ["x", "y", "z"]),
    ("x.std()", "std", ["x"]),
    ("torch.var(x, 1)", "var", ["x"]),
    ("x.mean(0)", "mean", ["x"]),
    ("x.sum()", "sum", ["x"]),
    ("x.prod(1)", "prod", ["x"]),
    ("x.cumsum(0)", "cumsum", ["x"]),
    ("x.norm()", "linalg_vector_norm", ["x"]),
    ("torch.norm(x, dim=1)", "linalg_vector_norm", ["x"]),
    ("torch.linalg.norm(v)", "linalg_vector_norm", ["v"]),
    ("torch.linalg.vector_norm(x)", "linalg_vector_norm", ["x"]),
    ("F.normalize(x, dim=0)", "linalg_vector_norm", ["x"]),
    ("F.normalize(x, dim=0)", "div", ["x", None]),
    ("x.softmax(-1)", "_softmax", ["x"]),
    ("torch.softmax(x, -1)", "_softmax", ["x"]),
    ("F.softmax(x, dim=-1)", "_softmax", ["x"]),
    ("TF.log_softmax(x, -1)", "_log_softmax", ["x"]),
    ("torch.logsumexp(x, 1)", "logsumexp", ["x"]),
    ("F.mse_loss(x, y)", "mse_loss", ["x", "y"]),
    ("F.mse_loss(target=y, input=x)", "mse_loss", ["x", "y"]),
    ("F.l1_loss(x, y)", "sub", ["x", "y"]),
    ("F.cross_entropy(x, target)", "_log_softmax", ["x"]),
    ("F.cross_entropy(x, target)", "nll_loss_forward", [None, "target"]),
    ("F.cross_entropy(x, target, weight=v)", "nll_loss_forward", [None, "target", "v"]),
    ("F.nll_loss(x, target)", "nll_loss_forward", ["x", "target"]),
    (
        "F.binary_cross_entropy(torch.sigmoid(x), y / 4)",
        "binary_cross_entropy",
        ["torch.sigmoid(x)", "y / 4"],
    ),
    ("F.smooth_l1_loss(x, y)", "smooth_l1_loss", ["x", "y"]),
    ("F.kl_div(x, y, reduction='sum')", "xlogy", ["y", "y"]),
    ("F.linear(x, w, v)", "addmm", ["v", "x", "w"]),
    ("F.linear(x, w)", "mm", ["x", "w"]),
    ("F.linear(input=x3, weight=w, bias=v)", "addmm", ["v", "x3", "w"]),
    ("F.conv2d(image, kernel)", "convolution", ["image", "kernel"]),
    (
        "F.conv2d(image, weight=kernel, bias=three)",
        "convolution",
        ["image", "kernel", "three"],
    ),
    ("F.layer_norm(x, (4,), v, u)", "native_layer_norm", ["x", "v", "u"]),
    ("F.batch_norm(x, None, None, v, u, True)", "native_batch_norm", ["x", "v", "u"]),
    ("F.embedding(index, w)", "embedding", ["w", "index"]),
    ("torch.embedding(w, index)", "embedding", ["w", "index"]),
    ("F.gelu(x)", "gelu", ["x"]),
    ("F.softplus(x)", "softplus", ["x"]),
    ("F.logsigmoid(x)", "log_sigmoid_forward", ["x"]),
    ("F.max_pool2d(image, 2)", "max_pool2d_with_indices", ["image"]),
    (
        "F.scaled_dot_product_attention(query, key, value)",
        "_scaled_dot_product_flash_attention_for_cpu",
        ["query", "key", "value"],
    ),
    ("F.cosine_similarity(x, y)", "linalg_vector_norm", None),
    ("torch.cdist(x, y)", "_cdist_forward", ["x", "y"]),
    ("torch.linalg.inv(x)", "linalg_inv_ex", ["x"]),
    ("torch.linalg.solve(x, y)", "_linalg_solve_ex", ["x", "y"]),
    ("torch.linalg.cholesky(x @ x.t() + 9)", "linalg_cholesky_ex", ["x @ x.t() + 9"]),
    ("torch.linalg.svd(x)", "_linalg_svd", ["x"]),
    ("x[0]", "select", ["x"]),
    ("x[mask]", "index", ["x", "mask"]),
    ("x[:, index]", "index", ["x", None]),
    ("x[mask] = 0.0", "index_put_", ["x", "mask", None]),
    ("v[0].item()", "_local_scalar_dense", ["v[0]"]),
    ("1 if v[0] else 2", "_local_scalar_dense", ["v[0]"]),
    ("[row.log() for row in x]", "unbind", ["x"]),
    ("float(v[0])", "_local_scalar_dense", ["v[0]"]),
    ("x.half()", "_to_copy", ["x"]),
    ("x.to(torch.float64)", "_to_copy", ["x"]),
    ("x /= y", "div_", ["x", "y"]),
    ("x *= 2", "mul_", ["x"]),
    ("x += lam * y", "add_", ["x", "lam * y"]),
    ("d['k'] -= y", "sub_", ["d['k']", "y"]),
    ("self.fc(x)", "addmm", ["self.fc.bias", "x", "self.fc.weight"]),
    ("net.fc(input=x)", "addmm", ["net.fc.bias", "x", "net.fc.weight"]),
    ("self.bare(x)", "mm", ["x", "self.bare.weight"]),
    ("self.conv(image)", "convolution", ["image", "self.conv.weight", "self.conv.bias"]),
    (
        "self.conv1(image[:, :, 0])",
        "convolution",
        ["image[:, :, 0]", "self.conv1.weight", "self.conv1.bias"],
    ),
    ("self.up(image)", "convolution", ["image", "self.up.weight", "self.up.bias"]),
    ("self.norm(x)", "native_layer_norm", ["x", "self.norm.weight", "self.norm.bias"]),
    (
        "self.bn(x)",
        "native_batch_norm",
        ["x", "self.bn.weight", "self.bn.bias", "self.bn.running_mean", "self.bn.running_var"],
    ),
    ("self.gn(image)", "native_group_norm", ["image", "self.gn.weight", "self.gn.bias"]),
    ("self.emb(index)", "embedding", ["self.emb.weight", "index"]),
    ("self.softmax(x)", "_softmax", ["x"]),
    ("self.act(x + y)", "gelu", ["x + y"]),
    ("self.prelu(x)", "_prelu_kernel", ["x", "self.prelu.weight"]),
    ("self.pool(image)", "max_pool2d_with_indices", ["image"]),
    ("self.seq(x)", "addmm", [None, None, None]),
    ("self.ce(x, target)", "_log_softmax", ["x"]),
    ("self.ce(x, target)", "nll_loss_forward", [None, "target", "self.ce.weight"]),
    ("self.mse(x, y)", "mse_loss", ["x", "y"]),
    ("self.bce(torch.sigmoid(x), y / 4)", "binary_cross_entropy", ["torch.sigmoid(x)", "y / 4"]),
    ("self.huber(x, y)", "huber_loss", ["x", "y"]),
    ("nn.Linear(4, 4)(x)", "addmm", [None, "x", None]),
]

# Named only with the variables of the frame at hand.
NAMED_BY_VALUES = [
    ("n += x", "add", ["x"]),
    ("lam * x", "mul", ["x"]),
    ("x * lam", "mul", ["x"]),
    ("self.eps + x", "add", ["x"]),
    ("x @ y", "mm", ["x", "y"]),
    ("x3 @ w", "mm", ["x3", "w"]),
    ("x @ v", "mv", ["x", "v"]),
    ("torch.matmul(x, y)", "mm", ["x", "y"]),
    ("x.matmul(y)", "mm", ["x", "y"]),
    ("g @ x3", "mm", ["x3", "g"]),
    ("self.scale.mul(x)", "mul", ["self.scale", "x"]),
]

# Nothing is claimed about these; whatever is said must be true.
OTHERS = """\
lam * x
x * lam
x @ y
g @ x3
h @ v
v @ y3
self.eps * x
x3 @ g
v @ g
x @ x.t()
x.t() @ y3
g.t() @ x3
h @ x3
torch.matmul(h, x3)
F.softmin(x, 0)
self.rms(x)
F.rms_norm(x, (4,), v)
self.bn2(image)
self.inorm(image)
self.drop(x)
self.bilinear(x, y)
self.attention(x3, y3, x3)
self.bcel(x, y)
self.kl(x, y)
self.logsoftmax(g)
F.dropout(x, 0.5)
F.binary_cross_entropy_with_logits(x, y)
F.gaussian_nll_loss(x, y, z)
F.cosine_similarity(x, y)
F.pairwise_distance(x, y)
F.triplet_margin_loss(x, y, z)
F.softsign(x)
F.selu(x)
F.glu(x)
F.pad(x, (1, 1))
F.interpolate(image, scale_factor=2.0)
F.adaptive_avg_pool2d(image, 1)
F.elu_(x)
F.one_hot(target)
F.huber_loss(x, y)
F.poisson_nll_loss(x, y)
F.silu(x)
F.ctc_loss(x3.log(), target[:1].repeat(4, 2), (3,) * 4, (2,) * 4)
torch.einsum('ij,jk', x, y)
torch.einsum('bij,jk->bik', x3, g)
torch.tensordot(x, y)
torch.outer(v, u)
sum(parts)
torch.kron(x, y)
torch.linalg.norm(x)
torch.linalg.matrix_norm(x, 2)
x.norm(p=1, dim=0)
torch.linalg.det(x)
torch.logdet(x @ x.t() + 9)
torch.linalg.eigh(x + x.t())
x.std(0)
torch.std_mean(x)
torch.var_mean(x, 1)
x.max()
torch.min(x, 1)
max(v[0], v[1])
x.square()
torch.square(g)
x.logsumexp(0)
torch.logaddexp(x, y)
torch.cumprod(x, 0)
x.addmm(y, z)
x.add(2, y)
torch.add(x, 2, y)
torch.mul(x, lam)
x.addcmul(y, z)
x.expand(2, 4, 4)
x.view(-1).log()
x.contiguous()
x.t().contiguous()
x.clone()
x.type_as(y)
x.double()
x.tolist()
[t.log() for t in parts]
[r for r in x]
x[0, mask]
x[mask, mask]
x[index][:, index]
x[None]
x[..., 0]
x.gather(0, x.long())
x[0] = y[0]
x[mask] = y[mask]
x[index, 0] = 3.0
x.fill_(2)
x.index_put_((index,), v)
a, b = x[0], x[1]
x.scatter_add_(0, z.long(), y)
torch.nan_to_num(x / 0)
x.prod()
torch.stack([x, y]).sum(0)
torch.atan2(x, y)
x.lerp(y, 0.5)
torch.clamp(x, y, z)
x.clamp_min_(1)
x.pow(2).sum().sqrt()
x.sigmoid_()
torch.heaviside(x, y)
x <= 3
3 >= x
x != y
x > y
not v[0]
bool(v[0] > 0)
-g + h
torch.zeros(3).log()
torch.full_like(x, 2.0)
torch.vmap(torch.log)(x)
x.__truediv__(y)
torch.utils.checkpoint.checkpoint(torch.log, g, use_reentrant=False)
torch.Tensor.log(x)
torch.func.grad(lambda q: q.log().sum())(x)
torch.autograd.grad(g.log().sum(), g)
net.norm(x)
net.softmax(x)
(lambda q: q / 2)(x)
torch._foreach_add(parts, 1.0)
torch._foreach_mul(parts, parts)
F.mse_loss(*parts)
torch.where(*[x > 1, a, b])
F.cross_entropy(**{'input': x, 'target': target})
F.linear(*[x, w], bias=v)
lam ** x
lam - x
x - lam
n // x
n % x
x ** lam
lam == x
lam < x
F.multi_margin_loss(x, target)
F.margin_ranking_loss(x, y, z)
F.instance_norm(image)
F.scaled_dot_product_attention(query, key, value, attn_mask=x)
F.fold(x3, (2, 2), 1)
torch.nn.utils.clip_grad_norm_([g], 1.0)
torch.cov(x)
torch.trapz(x, y)
x.renorm(2, 0, 1)
torch.quantile(x, 0.5)
torch.median(x)
x.kthvalue(2)
torch.sort(x)
x.diff()
""".splitlines()
