"""One number out of a tensor, a truth value, and calls that give a tensor where something else is expected."""

from ..data import Kind

KINDS = (
    Kind(
        slug="truth-of-tensor",
        chapter="training",
        says=(
            "boolean value of tensor with more than one value is ambiguous",
            "bool value of tensor with more than one value is ambiguous",
            "boolean value of tensor with no values is ambiguous",
            "bool value of tensor with no values is ambiguous",
            "bool value of variable objects containing non-empty",
            "bool value of variable",
        ),
        what=(
            "`if`, `and`, `not`, `in` and `==` between lists ask for one truth value, and a tensor of several "
            "elements has several. (A loss class called with tensors does, too: `nn.CrossEntropyLoss(output, "
            "target)` constructs a loss whose settings are tensors.)"
        ),
        causes=(
            "The loss class is called instead of an instance of it.",
            "A condition on a whole tensor: `if x > 0`.",
            "`tensor in list` or `list.remove(tensor)` compares with `==`.",
        ),
        mend=(
            "criterion = nn.CrossEntropyLoss()\n"
            "loss = criterion(output, target)      # or F.cross_entropy(output, target)\n"
            "if (x > 0).any(): ...\n"
            "y = torch.where(x > 0, x, 0)"
        ),
        check="bool(condition.any()) or bool(condition.all()) says what you mean.",
    ),
    Kind(
        slug="not-one-element",
        chapter="training",
        says=(
            "a tensor with {n:d} elements cannot be converted to scalar",
            "cannot be converted to scalar",
            "only tensors with one element can be converted",
            "only one element tensors can be converted",
            "only integer tensors of a single element can be converted to an index",
            "only single-element tensors can be converted",
            "item() can only be used on single",
            "can only convert an array of size 1 to a python scalar{...}tensor",
            "converting a tensor with requires_grad=true to a scalar",
        ),
        here=("Here: the tensor has {n} elements.",),
        needs=(
            "torch",
            "tensor",
        ),
        what=(
            "`.item()`, `float()`, `int()` and an index ask for one Python number, and the tensor has several "
            "elements (or none)."
        ),
        causes=(
            "The loss was not reduced (`reduction='none'`), or DataParallel gave one per GPU.",
            "A list of tensors is given to `torch.tensor` or `np.array`: that is `torch.stack`.",
            "`range(tensor)` or a list is indexed by a tensor of several elements.",
        ),
        mend=("loss.mean().item()\nx = torch.stack(list_of_tensors)\nvalues = x.tolist()"),
        check="x.numel() == 1 before .item().",
    ),
    Kind(
        slug="zero-dimensional",
        chapter="storage",
        says=(
            "iteration over a 0-d tensor",
            "len() of a 0-d tensor",
            "len() of unsized object{...}tensor",
            "0-dim tensor",
            "object does not support indexing{...}0-d",
            "0-d tensor",
        ),
        needs=(
            "torch",
            "tensor",
        ),
        what="A 0-dimensional tensor is one number: it has no first element and no length.",
        causes=(
            "`squeeze()` dropped the last axis, of a batch of one.",
            "A function returns one tensor, and the line unpacks several (`out, state = net(x)`).",
        ),
        mend=("for value in x.reshape(-1): ...\nx = x.squeeze(1)        # name the axis"),
        check="x.dim() > 0.",
    ),
    Kind(
        slug="loss-is-a-number",
        chapter="autograd",
        says=(
            "'float' object has no attribute 'backward'",
            "'int' object has no attribute 'backward'",
            "'numpy.float64' object has no attribute 'backward'",
            "'numpy.float32' object has no attribute 'backward'",
            "'numpy.ndarray' object has no attribute 'backward'",
        ),
        needs=("attribute 'backward'",),
        anybodys=True,
        what=(
            "`backward` walks from a tensor along its `grad_fn`. This loss is a plain number: on the way, `.item()`, "
            "`float()`, `.tolist()` or NumPy took the value out of its tensor, and the graph stayed behind."
        ),
        causes=(
            "`.item()` on the loss before `backward`, often in a running sum: `loss += criterion(…).item()`.",
            "The loss is computed with NumPy, `math` or scikit-learn.",
            "No batch came, so the sum that was to hold tensors is still the number 0.",
        ),
        mend=(
            "loss = criterion(output, target)   # a tensor\n"
            "loss.backward()\n"
            "total += loss.item()               # the number, after it"
        ),
        check="type(loss), loss.grad_fn just before the line.",
    ),
    Kind(
        slug="argument-not-a-tensor",
        chapter="modules",
        says=(
            "'variable' object has no attribute '{attribute:w}'",
            "not supported between instances of 'tensor' and '{b:w}'",
            "not supported between instances of '{a:w}' and 'tensor'",
            "'tuple' object has no attribute 'size'",
            "'{type:w}' object is not iterable",
            "'numpy.ndarray' object has no attribute 'unsqueeze'",
            "'numpy.ndarray' object has no attribute 'dim'",
            "'numpy.ndarray' object has no attribute 'cuda'",
            "'numpy.ndarray' object has no attribute 'to'",
            "'numpy.ndarray' object has no attribute 'cpu'",
            "'numpy.ndarray' object has no attribute 'detach'",
            "'float' object has no attribute 'item'",
            "'int' object has no attribute 'item'",
            "'list' object has no attribute 'unsqueeze'",
            "'list' object has no attribute 'dim'",
            "'tuple' object has no attribute 'unsqueeze'",
            "'tuple' object has no attribute 'backward'",
            "'tuple' object has no attribute 'detach'",
            "'tuple' object has no attribute 'cpu'",
            "'tuple' object has no attribute 'permute'",
            "'tuple' object has no attribute 'log_softmax'",
            "'tuple' object has no attribute 'argmax'",
            "'dict' object has no attribute 'dim'",
            "{function:w}(): argument '{argument}' (position {position:d}) must be tensor, not {got:w}",
            "{function:w}(): argument '{argument}' must be tensor, not {got:w}",
            "must be tensor, not",
            "must be tuple of tensors, not {got:w}",
            "must be tuple of tensors, not",
            "expected tensor as element {position:d} in argument {n:d}, but got {got:w}",
            "expected tensor as element",
            "invalid combination of arguments",
            "(): argument '{argument}' (position {position:d}) must be",
            "'tuple' object has no attribute '{attribute:w}'",
            "'list' object has no attribute '{attribute:w}'",
            "'dict' object has no attribute '{attribute:w}'",
            "tuple' object has no attribute 'dim'",
            "'tuple' object has no attribute 'view'",
            "expected a variable argument, but got",
            "expected a variable or tuple",
            "expected variable as element",
            "but found type tuple",
            "unsupported operand type(s) for {operator}: '{a}' and 'tensor'",
            "unsupported operand type(s) for {operator}: 'tensor' and '{b}'",
            "unsupported operand type(s) for",
            "(): input must be tensor",
            "must be a tensor, not",
            "expected torch.tensor",
            "to be a tensor, got",
            "'tensor' object is not callable",
            "'tensor' object has no attribute '{attribute:w}'",
            "'parameter' object has no attribute",
            "tensor' object has no attribute",
            "takes tensor arguments",
            "relu(): argument 'input'",
        ),
        reads=("argument '{argument}' (position {position:d}) must be tensor, not {got:w}",),
        here=(
            "Here: `{argument}` of {function} is a {got}.",
            "Here: the object has no `{attribute}`.",
        ),
        needs=(
            "attribute 'clone'",
            "attribute 'detach'",
            "attribute 'backward'",
            "attribute 'requires_grad_'",
            "attribute 'contiguous'",
            "attribute 'numel'",
            "attribute 'permute'",
            "attribute 'is_cuda'",
            "attribute 'grad_fn'",
            "attribute 'unsqueeze_'",
            "attribute 'masked_fill'",
            "attribute 'softmax'",
            "expected variable",
            "'variable' object has no attribute",
            "'tuple' object has no attribute 'size'",
            "'tuple' object has no attribute 'dim'",
            "'tuple' object has no attribute 'view'",
            "attribute 'unsqueeze'",
            "attribute 'cuda'",
            "attribute 'backward'",
            "attribute 'detach'",
            "attribute 'permute'",
            "attribute 'contiguous'",
            "attribute 'log_softmax'",
            "'tuple' object has no attribute 'to'",
            "'list' object has no attribute 'to'",
            "'str' object has no attribute 'to'",
            "'int' object has no attribute 'to'",
            "'linear' object is",
            "'conv2d' object is",
            "'parameter' object",
            "'sequential' object is",
            "attribute 'dim'",
            "'numpy.ndarray' object has no attribute 'to'",
            "attribute 'cpu'",
            "'float' object has no attribute 'item'",
            "'int' object has no attribute 'item'",
            "must be tensor",
            "combination of arguments",
            "'tensor'",
            "tensor",
            "torch",
        ),
        unless=(
            "tensorflow",
            "keras",
            "jax",
            "pandas.",
            "eagertensor",
            "sparsetensor",
        ),
        anybodys=True,
        what=(
            "A function of PyTorch's takes tensors, and something else came: what the layer before returned, "
            "or what a wrong name holds. LSTM, GRU and attention return tuples; Hugging Face models return "
            "objects; `nn.Sequential` hands over whatever comes."
        ),
        causes=(
            "The layer before returns a tuple (`nn.LSTM`: output, (h, c)), a dict or None.",
            "A NumPy array, a list or a number was not made a tensor.",
            "A method without parentheses, or a name that holds another thing.",
            "A name of another version of PyTorch, or of NumPy.",
        ),
        mend=("out, (h, c) = lstm(x)\ny = fc(out)\nx = torch.as_tensor(x, dtype=torch.float32)"),
        check="type(x) just before the line.",
    ),
    Kind(
        slug="grad-is-none",
        chapter="autograd",
        says=(
            "'nonetype' object has no attribute 'zero_'",
            "'nonetype' object has no attribute 'data'",
            "'nonetype' object has no attribute 'norm'",
            "'nonetype' object has no attribute 'detach'",
            "'nonetype' object has no attribute 'clone'",
            "'nonetype' object has no attribute 'clamp_'",
            "'nonetype' object has no attribute 'abs'",
            "'nonetype' object has no attribute 'backward'",
            "'nonetype' object has no attribute 'grad'",
            "'nonetype' object has no attribute 'mul_'",
            "'nonetype' object has no attribute 'requires_grad'",
            "unsupported operand type(s) for *: 'float' and 'nonetype'",
        ),
        needs=(
            ".grad",
            "torch",
            "zero_",
            "mul_",
            "clamp_",
            "backward",
            "'norm'",
        ),
        unless=(
            "pandas",
            "sklearn",
            "tensorflow",
        ),
        anybodys=True,
        what=(
            "`.grad` is None until a backward has reached this tensor. Only leaves that require grad get one, "
            "and only when the loss depends on them; `zero_grad()` sets it back to None (set_to_none, since "
            "2.0)."
        ),
        causes=(
            "No backward ran yet, or zero_grad() came just before.",
            (
                "The tensor is no leaf: it is the result of an operation (`.to(device)`, `* 0.01`), also after `w "
                "= w - lr * w.grad`."
            ),
            "The loss does not depend on it: a detach, `.data`, `.item()` or a branch cuts the path.",
        ),
        mend=(
            "with torch.no_grad():\n"
            "    w -= rate * w.grad      # in place: w stays the leaf\n"
            "if w.grad is not None:\n"
            "    w.grad.zero_()"
        ),
        check="w.is_leaf and w.requires_grad, and w.grad is not None after backward().",
    ),
    Kind(
        slug="tensor-not-json",
        chapter="training",
        says=(
            "object of type tensor is not json serializable",
            "object of type 'tensor' is not json serializable",
            "object of type parameter is not json serializable",
        ),
        what="JSON knows numbers, texts, lists and dicts; a tensor is none of them, not even one of a single number.",
        causes=(
            "A log or a report holds the loss itself, not its number (and keeps its graph alive).",
            "Predictions are written as a tensor.",
        ),
        mend="log = {'loss': loss.item(), 'predicted': pred.tolist()}\njson.dumps(log)",
        check="{k: type(v) for k, v in log.items()} has no Tensor.",
    ),
)
