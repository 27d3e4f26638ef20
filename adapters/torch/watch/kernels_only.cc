#include "adapters/torch/watch/kernels_only.h"

#include <ATen/core/LegacyTypeDispatch.h>

namespace nanscope::torch_adapter {

KernelsOnly::KernelsOnly()
    : excluded_(c10::autograd_dispatch_keyset_with_ADInplaceOrView | c10::autocast_dispatch_keyset |
                c10::python_ks |
                c10::DispatchKeySet({c10::DispatchKey::Functionalize,
                                     c10::DispatchKey::FuncTorchDynamicLayerFrontMode,
                                     c10::DispatchKey::FuncTorchDynamicLayerBackMode})) {}

}  // namespace nanscope::torch_adapter
