#include "adapters/torch/watch/disarm.h"

#include <mutex>
#include <string_view>

#include "adapters/torch/interpose/trampoline.h"

namespace nanscope::torch_adapter {

void Disarming::disarm(const std::string& where, const char* why) noexcept {
  watching = 0;
  {
    const std::lock_guard guard(lock_);
    if (!reason_.empty()) return;
    const std::string_view first_line =
        std::string_view(why).substr(0, std::string_view(why).find('\n'));
    reason_ = "at " + where + ": " + std::string(first_line);
  }
  if (tell_ != nullptr) tell_();
}

std::string Disarming::reason() const {
  const std::lock_guard guard(lock_);
  return reason_;
}

}  // namespace nanscope::torch_adapter
