// One wrapper in front of one kernel.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>

namespace nanscope::torch_adapter {

// `late`: the kernel was registered after the wrappers were put in, by the program.
// `other_device`: Note [Other devices are counted]. False where there is nothing to wrap.
bool wrap_at(const c10::OperatorHandle& handle, c10::DispatchKey key, bool late,
             bool other_device = false);

// The dispatcher warns that a kernel is overridden; that is what we are here for.
class NoWarnings {
 private:
  struct Silence final : c10::WarningHandler {
    void process(const c10::Warning&) override {}
  };
  Silence silence_;
  c10::WarningUtils::WarningHandlerGuard guard_{&silence_};
};

}  // namespace nanscope::torch_adapter
