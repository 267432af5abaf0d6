"""The graph of the backward pass: what it saved, what it lost, what was written over."""

from ..data import Kind

KINDS = (
    Kind(
        slug="saved-tensor-modified",
        chapter="autograd",
        says=(
            "has been modified by an inplace operation",
            "variables needed for gradient computation has been modified",
        ),
        reads=(
            (
                "[{tensor} {shape:s}], which is output {output:d} of {node:w}, is at version {version:d}; expected "
                "version {expected:d}"
            ),
            "[{tensor} {shape:s}] is at version {version:d}; expected version {expected:d}",
            "is at version {version:d}; expected version {expected:d}",
        ),
        here=(
            (
                "Here: a {tensor} of shape {shape}, made by {node}, was saved at version {expected} and is at "
                "version {version}."
            ),
            "Here: a {tensor} of shape {shape} was saved at version {expected} and is at version {version}.",
            "Here: saved at version {expected}, now at version {version}.",
        ),
        what=(
            "The forward saved a tensor for its backward and noted its version. Each in-place write raises the "
            "version; the backward finds another one and refuses, since the numbers that it needs are gone."
        ),
        causes=(
            (
                "`optimizer.step()` wrote the weights between forward and backward: two losses over one net (a "
                "GAN), or `retain_graph=True` over several steps."
            ),
            "An in-place operator on an activation: `x += y`, `x[:, 0] = 0`, `relu_`, `nn.ReLU(inplace=True)`.",
            "A hidden state from the last step is still attached to its graph.",
        ),
        mend=(
            "x = x + y                     # a new tensor instead of x += y\n"
            "d_loss = loss(D(fake.detach()))   # in a GAN: cut the generator off for D's step\n"
            "hidden = hidden.detach()          # between steps of an RNN"
        ),
        check=(
            "with torch.autograd.set_detect_anomaly(True): the second traceback shows the forward line; "
            "torchcourse.autograd.graph(loss) marks the stale nodes."
        ),
        wrong=(
            "`retain_graph=True`: it keeps the graph, not the old numbers; memory grows each step.",
            "Downgrading torch: old versions computed wrong gradients here without a word.",
        ),
    ),
    Kind(
        slug="leaf-modified-in-place",
        chapter="autograd",
        says=(
            "a leaf variable that requires grad is being used in an in-place operation",
            "a leaf variable that requires grad has been used in an in-place operation",
            "leaf variable has been moved into the graph interior",
            "leaf variable was used in an inplace operation",
            "in-place operations can be only used on variables that don't share storage",
            "view of a leaf variable that requires grad",
        ),
        what=(
            "A leaf is where gradients arrive: its value is given, not computed. An in-place operation that "
            "autograd records would make it the result of an operation."
        ),
        causes=(
            "Weights are initialised or updated by hand outside `no_grad`.",
            "`x[0] = value` on a tensor made with requires_grad=True.",
            "The write goes through a view: `bias.view(3, -1)[:, 0] += 1`.",
        ),
        mend=(
            "with torch.no_grad():\n"
            "    w.add_(4.6)\n"
            "nn.init.constant_(conv.bias, 0.1)\n"
            "x = x.clone(); x[0] = 1       # where the write should be part of the graph"
        ),
        check="w.is_leaf is still True and w.grad arrives after backward().",
        wrong=("`.data`: it writes, and hides the change from the version counter.",),
    ),
    Kind(
        slug="view-of-unbind-modified",
        chapter="autograd",
        says=(
            "this view is the output of a function that returns multiple views",
            "this view was created inside a custom function",
            "this view was created in no_grad mode",
            "a view was created in no_grad mode and is being modified inplace with grad mode enabled",
            (
                "a view was created in no_grad mode and its base or another view of its base has been modified "
                "inplace with grad mode enabled"
            ),
            "a view was created in inference mode and is being modified inplace in normal mode",
            "is a view and its base or another view of its base has been modified inplace",
            "is a view and is being modified inplace",
            "is a view of a {...}and is being modified inplace",
            "view + inplace or input is a view",
            "is a view and its base",
            "custom function{...}is a view and",
        ),
        what=(
            "`unbind`, `split`, `chunk` and iterating over a tensor return several views of one tensor. "
            "Autograd could not tell which of them a write changed, so it forbids writing into them (also into "
            "views made in no_grad)."
        ),
        causes=(
            "`for row in x: row += 1`, or `a, b = x.chunk(2); a *= 2`.",
            "A view was made under no_grad or in a custom Function and is written afterwards.",
        ),
        mend=(
            "rows = [row + 1 for row in x]       # new tensors\n"
            "a, b = (part.clone() for part in x.chunk(2))\n"
            "x[0].add_(1)                       # one view, by index, may be written"
        ),
        check="a._base is None for what is written, or the write is out of place.",
    ),
    Kind(
        slug="backward-twice",
        chapter="autograd",
        says=(
            "trying to backward through the graph a second time",
            "but the buffers have already been freed",
            "but the saved intermediate results have already been freed",
            "saved intermediate values of the graph are freed",
            "after they have already been freed",
            "specify retain_graph=true",
        ),
        what=(
            "The backward frees what the forward saved, so that memory does not grow. A second backward over "
            "the same nodes finds nothing there."
        ),
        causes=(
            (
                "A part of the graph is older than the step: a hidden state, a running loss, an embedding computed "
                "once before the loop."
            ),
            "Two losses share a forward, and each calls backward.",
            "backward() is called twice (also a cell that was run twice).",
        ),
        mend=(
            "hidden = hidden.detach()             # cut the graph between steps\n"
            "(loss_a + loss_b).backward()          # one backward for both\n"
            "total += loss.item()                  # a number, not a graph"
        ),
        check="torchcourse.autograd.graph(loss) shows no freed node before backward().",
        wrong=(
            (
                "`retain_graph=True` to silence it: every step then goes back through all earlier ones; memory and "
                'time grow, and with an optimizer step in between it fails with "modified by an inplace '
                'operation".'
            ),
        ),
    ),
    Kind(
        slug="loss-without-gradient",
        says=(
            "element {element:d} of tensors does not require grad and does not have a grad_fn",
            "does not require grad and does not have a grad_fn",
            "element 0 of variables does not require grad",
            "does not have a grad_fn",
            "there are no graph nodes that require computing gradients",
            "there are no graph nodes that require grad",
            "cannot differentiate a tensor that does not require grad",
        ),
        what="The loss carries no graph: no operation on the way to it recorded a gradient.",
        causes=(
            "The forward ran under `no_grad`, `inference_mode`, or in a test hook that installs them.",
            "All parameters are frozen, or the input of a frozen net should have required grad.",
            (
                "The path is cut: `.detach()`, `.data`, `.item()`, `.numpy()`, `torch.tensor(loss)`, or argmax, a "
                "comparison, rounding."
            ),
        ),
        mend=("with torch.enable_grad():\n    loss = net(x).sum()\nloss.backward()"),
        check="loss.requires_grad and loss.grad_fn is not None; torchcourse.layers shows where a gradient is cut.",
        wrong=(
            (
                "`loss.requires_grad = True`: the error goes away, and nothing learns; the loss becomes a leaf of "
                "its own."
            ),
        ),
    ),
    Kind(
        slug="loss-not-scalar",
        says=(
            "gradients can be either tensors or none, but got",
            "if 'is_grads_batched=true'",
            "grad can be computed only for real scalar outputs",
            "grad can be implicitly created only for",
            "backward should be called only on a scalar",
        ),
        what=(
            "A backward starts from d loss / d loss = 1, which exists for one number only. For a vector, "
            "PyTorch would need the vector that multiplies the Jacobian."
        ),
        causes=(
            "The loss is not reduced (`reduction='none'`, or the batch's losses).",
            "DataParallel returns one loss per GPU.",
        ),
        mend=(
            "loss.mean().backward()\n"
            "y.backward(gradient=torch.ones_like(y))     # the same as y.sum().backward()"
        ),
        check="loss.dim() == 0.",
    ),
    Kind(
        slug="input-not-in-graph",
        chapter="autograd",
        says=(
            "'inputs' argument to 'grad()' cannot be empty",
            "expected allow_unused to be true or not passed",
            "the differentiated tensor at index {index:d} appears to not have been used in the graph",
            "appears to not have been used in the graph",
            "one of the differentiated tensors does not require grad",
            "the differentiated tensor at index {index:d} does not require grad",
            "differentiated tensors given as",
        ),
        here=("Here: it is the tensor at index {index} of `inputs`.",),
        what="`torch.autograd.grad` was asked for the gradient of a tensor on which the output does not depend.",
        causes=(
            "A branch or a layer was not used in this forward.",
            (
                "The tensor in the list is another object than the one in the forward (a copy, `.to()`, a view "
                "made later)."
            ),
        ),
        mend="grads = torch.autograd.grad(loss, inputs, allow_unused=True)    # None where nothing arrives",
        check="None in grads: those inputs are not used. Is that what you mean?",
    ),
    Kind(
        slug="inference-tensor",
        chapter="autograd",
        says=(
            "inference tensors cannot be saved for backward",
            "inference tensors do not track version counter",
            "inference tensor outside inferencemode",
            "inference tensors cannot",
            "cannot set version_counter for inference tensor",
            "a view was created in inference mode",
        ),
        what=(
            "A tensor made under `inference_mode` has no version counter and no place in a graph, for ever: "
            "that is where its speed comes from."
        ),
        causes=(
            "A frozen backbone runs under inference_mode, and a head is trained on its output.",
            "Weights, buffers or cached features were made or loaded inside inference_mode.",
        ),
        mend=(
            "with torch.no_grad():          # instead of torch.inference_mode()\n"
            "    features = backbone(x)\n"
            "features = features.clone()    # outside: a normal tensor"
        ),
        check="features.is_inference() is False.",
    ),
    Kind(
        slug="requires-grad-to-numpy",
        chapter="autograd",
        says=(
            "can't call numpy() on tensor that requires grad",
            "can't call numpy() on variable that requires grad",
            "use tensor.detach().numpy() instead",
            "use var.detach().numpy() instead",
        ),
        what=(
            "The array would share the tensor's memory, and NumPy's operations are not recorded: the gradient "
            "would silently lose them."
        ),
        causes=(
            "An output, a loss or a parameter is plotted or measured.",
            "NumPy computes inside the forward: then the gradient must be lost.",
        ),
        mend=("array = x.detach().cpu().numpy()\nnumber = loss.item()"),
        check="x.requires_grad is False after detach(); the graph of x is untouched.",
    ),
    Kind(
        slug="requires-grad-not-float",
        chapter="autograd",
        says=(
            "only tensors of floating point and complex dtype can require gradients",
            "only tensors of floating point dtype can require gradients",
            "can require gradients",
            "only leaf variables",
            "you can only change requires_grad flags of leaf variables",
        ),
        what=(
            "Gradients are defined for floating point and complex numbers, and the flag belongs to leaves: the "
            "result of an operation requires grad when an input does."
        ),
        causes=(
            "An integer tensor: `torch.tensor([1, 2], requires_grad=True)`; `nn.Parameter` of integers.",
            "`requires_grad = False` on a result: use detach().",
        ),
        mend=(
            "x = torch.tensor([1.0, 2.0], requires_grad=True)\n"
            "index = nn.Parameter(torch.arange(3), requires_grad=False)\n"
            "y = y.detach()"
        ),
        check="x.is_floating_point() and x.is_leaf.",
    ),
    Kind(
        slug="custom-function-gradients",
        chapter="autograd",
        says=(
            "you must implement the backward function for custom autograd.function",
            "data must be a tensor",
            "marked with @once_differentiable",
            "returned an invalid gradient at index {index:d} - expected shape {expected:s} but got {got:s}",
            "returned an invalid gradient at index {index:d} - expected type {expected:w} but got {got:w}",
            "returned an invalid gradient",
            "you must implement the jvp function",
            "setup_context",
            "to use autograd.function with vmap",
            "save_for_forward expects",
            "should not be instantiated. methods on autograd functions are all static",
            "implementing both 'backward' and 'vjp'",
            "returned an incorrect number of gradients (expected {expected:d}, got {got:d})",
            "returned an incorrect number of gradients",
            (
                "returned an invalid gradient at index {index:d} - got {got:s} but expected shape compatible with "
                "{expected:s}"
            ),
            "legacy autograd function with non-static forward method is deprecated",
            "legacy autograd function object",
            "an autograd function with the vjp/jvp",
            "once_differentiable",
            "got {...}gradient{...}but expected {...}device type",
            "expected to get{...}gradients",
            "function {name:w} returned",
            "you must implement either the backward or vjp method for your custom autograd.function",
            "you must implement the forward function for custom autograd.function",
            "in order to use an autograd.function with functorch transforms",
            "for functorch transforms",
            "save_for_backward can only save variables",
            "save_for_backward can only save input or output",
            "save_for_backward",
            "if your function needs to save",
            "got {...} arguments{...}apply",
        ),
        reads=(
            "function {name:w} returned",
            "at index {index:d} - got {got:s} but expected shape compatible with {expected:s}",
            "(expected {expected:d}, got {got:d})",
        ),
        here=("Here: {name} should give {expected} and gives {got}.",),
        needs=(
            "torch",
            "gradient",
            "backward",
            "autograd",
        ),
        what=(
            "The backward of an `autograd.Function` returns one gradient per argument of forward (None for "
            "those that need none), each with its argument's shape."
        ),
        causes=(
            "An argument that is no tensor was forgotten: it needs a None.",
            "Broadcasting in forward is not summed back in backward.",
            "`ctx.save_for_backward` holds a thing that is neither input nor output: store it on ctx.",
        ),
        mend=(
            "@staticmethod\n"
            "def backward(ctx, grad):\n"
            "    return grad * ctx.k, None      # one per argument of forward"
        ),
        check="torch.autograd.gradcheck(MyFunction.apply, (x.double().requires_grad_(), 3.0)).",
    ),
    Kind(
        slug="gradcheck-mismatch",
        chapter="autograd",
        says=(
            "jacobian mismatch for output {output:d} with respect to input {input:d}",
            "jacobian mismatch for output",
            "gradients failed to compare equal for grad output",
            "backward is not reentrant",
            "gradcheck expects at least one input tensor to require gradient",
            "gradcheck",
            "double precision floating point. this check",
        ),
        here=("Here: output {output} by input {input}.",),
        what=(
            "gradcheck compares the backward with differences of the forward. In float32 the difference of two "
            "nearly equal numbers has almost no right digits, so it needs float64."
        ),
        causes=(
            "The inputs are float32.",
            "The backward is wrong.",
            "The function has a kink, or draws random numbers (dropout).",
        ),
        mend=(
            "x = torch.randn(5, dtype=torch.float64, requires_grad=True)\ntorch.autograd.gradcheck(fn, (x,))"
        ),
        check="With float64 it returns True; if not, the backward is wrong.",
    ),
    Kind(
        slug="deepcopy-non-leaf",
        chapter="autograd",
        says=(
            "graph leaves) support the deepcopy",
            "support the deepcopy protocol",
            "cannot pickle non-leaf{...}requires grad",
            "cowardly refusing to serialize non-leaf tensor which requires_grad",
        ),
        what=(
            "A non-leaf tensor belongs to a graph, and a copy could not be attached to it: so deepcopy (and "
            "sending it to another process) is refused."
        ),
        causes=(
            "A module keeps an activation as an attribute (`self.last = self.fc(x)`), or a hook stores one.",
            "The old `weight_norm` keeps a computed weight as an attribute.",
        ),
        mend=("self.last = self.fc(x).detach()\ncopied = copy.deepcopy(net)"),
        check="[n for n, v in vars(net).items() if torch.is_tensor(v) and v.grad_fn] is empty.",
    ),
    Kind(
        slug="derivative-missing",
        chapter="autograd",
        says=(
            "the derivative for '{operator:w}' is not implemented",
            "the derivative for '",
            "derivative for {operator:w} is not implemented",
            "derivative {...} is not implemented",
            "is not differentiable with respect to argument",
            "does not support automatic differentiation",
            "functionality requires{...}second derivative",
            "does not support double backward",
            "double backwards on",
            "double backward{...}not supported",
            "rnn backward can only be called in training mode",
            "cudnn_rnn_backward",
            "not implemented: double backward",
            "could not run 'aten::_cdist_backward",
            "trying to use forward ad with",
            "that does not support it because it has not been implemented yet",
            "svd_backward: setting compute_uv to false",
            "backward through svd",
            "the backward{...}is not implemented",
        ),
        here=("Here: {operator}.",),
        needs=(
            "torch",
            "derivative",
            "backward",
            "differentiable",
            "forward ad",
        ),
        what=(
            "Each operator has a formula for its backward in a table; this one has none for this use (often "
            "for a second derivative, or a backward kernel that needs training mode)."
        ),
        causes=(
            "A gradient penalty or a Hessian goes through an operator with a first derivative only.",
            "The backward of a cuDNN RNN is called in eval mode.",
        ),
        mend=(
            "d = (a[:, None] - b[None]).pow(2).sum(-1).sqrt()     # written from operators that have all "
            "derivatives\n"
            "with torch.backends.cudnn.flags(enabled=False):        # RNN: the plain implementation\n"
            "    out, h = rnn(x)"
        ),
        check="torch.autograd.gradgradcheck(fn, (x.double().requires_grad_(),)).",
    ),
    Kind(
        slug="checkpoint-recompute",
        chapter="autograd",
        says=(
            "none of output has requires_grad=true, this checkpoint() is not necessary",
            "torch.utils.checkpoint:",
            "torch.utils.checkpoint is incompatible with .grad()",
            "trying to backward an extra time",
            "tensor cached during selective activation checkpoint has been mutated",
            "recomputed values for the following tensors",
            "a different number of tensors was saved during the original forward",
            "checkpointing is not compatible with .grad()",
            "none of the outputs have requires_grad=true",
            "none of the inputs have requires_grad=true. gradients will be none",
            "the use_reentrant parameter should be passed",
            "expected to mark a variable ready only once",
            "trying to unpack a saved tensor twice",
        ),
        needs=(
            "torch",
            "checkpoint",
            "recomputed",
            "use_reentrant",
            "variable ready",
            "requires_grad",
        ),
        what=(
            "Activation checkpointing runs the block again in the backward, and must come to the same tensors. "
            "With use_reentrant=True, its output has a gradient only when an input tensor requires one."
        ),
        causes=(
            (
                "The block behaves differently the second time: a cache, a global, another autocast or random "
                "state."
            ),
            "The block's inputs need no grad (first layer, frozen embedding) with use_reentrant=True.",
            "DDP with the reentrant form: a parameter is marked twice.",
        ),
        mend="y = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)",
        check="Gradients with and without checkpointing are equal.",
    ),
    Kind(
        slug="hook-refused",
        chapter="autograd",
        says=(
            "attempting to assign a gradient with dtype",
            "attempting to assign a gradient with device type",
            "attempting to assign a gradient located on device",
            "attempting to assign a gradient to a tensor that has data of a different type",
            "can't detach views in-place",
            "post accumulate grad hooks cannot be registered on non-leaf tensors",
            "'inputs' argument to 'backward()' cannot be empty",
            "cannot register a hook on a tensor that doesn't require gradient",
            "register_hook",
            "can't retain_grad on tensor that has requires_grad=false",
            "can't retain_grad on",
            "the .grad attribute of a tensor that is not a leaf tensor is being accessed",
            "the .grad attribute of a variable that is not a leaf",
            "assigned grad has data of a different size",
            "assigned grad has data of a different type",
            "assigned grad has data located on a different device",
            "assigned grad has",
            "cannot assign '{...}' to grad",
            "output {...} of backwardhookfunctionbackward is a view and is being modified inplace",
            "backwardhookfunctionbackward is a view",
        ),
        needs=(
            "torch",
            "tensor",
            "grad",
        ),
        what=(
            "`.grad`, hooks and retain_grad belong to tensors that autograd watches. A leaf keeps its "
            "gradient; a result of an operation only after `retain_grad()`. An assigned `.grad` must have its "
            "tensor's shape, type and device."
        ),
        causes=(
            "`.grad` of a result is read (`x = torch.ones(2, requires_grad=True).to(device)` is one).",
            "The tensor was made without grad, or under no_grad.",
        ),
        mend=(
            "y.retain_grad()            # before backward\n"
            "x = torch.ones(2, device=device, requires_grad=True)     # a leaf where it is needed"
        ),
        check="x.is_leaf, x.requires_grad; x.grad after backward.",
    ),
    Kind(
        slug="functional-transform",
        chapter="autograd",
        says=(
            "vmap: ",
            "we do not support .item() on a tensor",
            "it looks like you're calling .item() on a tensor inside",
            "you are attempting to call tensor.requires_grad_() inside of a function being transformed",
            "torch.func.grad",
            "grad_and_value{...}expected",
            "vmap: it looks like you're",
            "inside a functorch transform",
            "batching rule not implemented for",
            "vjp({...}): expected",
            "expected f to return only tensors",
            "expected the function given to",
            "batched tensor{...}in-place",
            "accessing tensor that has been{...}vmap",
        ),
        needs=(
            "torch",
            "vmap",
            "functorch",
            "batching rule",
        ),
        unless=("jax",),
        what=(
            "`torch.func` runs the function on stand-ins for a batch or a derivative. Operations that need one "
            "Python number, or write into a tensor from outside, cannot be transformed."
        ),
        causes=(
            "`.item()`, `if` on a tensor, or an in-place write inside vmap.",
            "An operator without a batching rule.",
        ),
        mend=(
            "y = torch.where(x > 0, x, 0 * x)        # instead of if\n"
            "torch.func.vmap(fn, randomness='different')(x)"
        ),
        check="The function works on one sample without .item(), and the vmapped one gives the stack of these.",
    ),
    Kind(
        slug="gradient-wrong-shape",
        chapter="autograd",
        says=(
            "of gradients tuple is none, but the corresponding tensor requires grad",
            "of gradients tuple is not a tensor or none",
            "mismatch in shape: grad_output[{n:d}] has a shape of {grad:s} and output[{m:d}] has a shape of {output:s}",
            "mismatch in shape: grad_output[",
            (
                "attempting to assign a gradient of size '{grad:s}' to a tensor of size '{output:s}'. please "
                "ensure that the gradient and the tensor are the same size"
            ),
            "attempting to assign a gradient of size",
            "assigned grad has data of a different size",
        ),
        here=("Here: the gradient has shape {grad}, its tensor {output}.",),
        what=(
            "A gradient says for each number of a tensor how the loss changes with it: it has the tensor's own "
            "shape. What is given to `backward`, `autograd.grad` or `.grad` is not broadcast."
        ),
        causes=(
            "`y.backward(gradient)` with a gradient made for another tensor, or of shape [1] for a scalar y.",
            "`.grad` is filled by hand (averaged over models or clients) in another order, or flattened.",
        ),
        mend=(
            "y.backward(gradient=torch.ones_like(y))     # the same as y.sum().backward()\n"
            "p.grad = g.view_as(p)                       # where it was only flattened"
        ),
        check="gradient.shape == y.shape.",
    ),
    Kind(
        slug="volatile-removed",
        chapter="autograd",
        says=(
            "volatile was removed and now has no effect",
            "volatile was removed",
        ),
        what=(
            "Until 0.3 `Variable(x, volatile=True)` switched the recording of a graph off. Since 0.4 it does "
            "nothing: the graph is recorded, and an evaluation takes the memory of a training step."
        ),
        causes=("Code from before 0.4.",),
        mend="with torch.no_grad():             # or torch.inference_mode()\n    output = model(x)",
        check="output.requires_grad is False.",
    ),
    Kind(
        slug="out-requires-grad",
        chapter="autograd",
        says=(
            "{function:w}(): functions with out=... arguments don't support automatic differentiation",
            "functions with out=... arguments don't support automatic differentiation",
        ),
        here=("Here: the function is {function}.",),
        what=(
            "`out=` writes the result into a tensor that is there, and autograd has no record of such a write. It "
            "refuses as soon as an argument, or `out` itself, requires grad."
        ),
        causes=(
            "An argument is a parameter, or comes from one, and the line is meant for numbers only.",
            "`out=` was meant to save memory inside a forward: there the graph needs the tensor anyway.",
        ),
        mend=(
            "y = torch.add(a, b)                 # recorded\n"
            "with torch.no_grad():               # numbers only\n"
            "    torch.add(a, b, out=buffer)"
        ),
        check="a.requires_grad, b.requires_grad, buffer.requires_grad.",
    ),
    Kind(
        slug="hook-returned",
        chapter="autograd",
        says=(
            "expected variable, but hook returned '{got:w}'",
            "expected tuple, but hook returned '{got:w}'",
            "but hook returned",
            "hook returned",
            "can't replace a none gradient with a non-none value",
            "post accumulate grad hooks should return none",
            "has returned an incorrect number of gradients",
            "has changed the type of value",
            "has changed the size of value",
        ),
        here=("Here: it returned a {got}.",),
        needs=("hook",),
        unless=("webhook",),
        what=(
            "A backward hook may return None, which changes nothing, or the new gradients: as many as it got, each of "
            "the same shape, dtype and device."
        ),
        causes=(
            "The hook returns what it looked at (a norm, a number), or the list's `append` result.",
            "One of several gradients is left out (a layer without bias has None in its place).",
        ),
        mend="def hook(grad):\n    seen.append(grad.norm())        # no return: nothing is changed",
        check="The gradients with the hook removed are the same as with one that returns None.",
    ),
)
