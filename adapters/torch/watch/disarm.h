// A fault of our own is no affair of the program: the watch is switched off, and says so.
#pragma once

#include <string>

#include "adapters/torch/watch/locks.h"

namespace nanscope::torch_adapter {

class Disarming {
 public:
  // For good. The first reason is kept.
  void disarm(const std::string& where, const char* why) noexcept;
  // Called once, when that happens: other ranks are not to count on this one.
  void tell(void (*function)() noexcept) noexcept { tell_ = function; }
  // Empty while all is well.
  [[nodiscard]] std::string reason() const;

 private:
  mutable Lock lock_{LockRank::kDisarming};
  std::string reason_;
  void (*tell_)() noexcept = nullptr;
};

}  // namespace nanscope::torch_adapter
