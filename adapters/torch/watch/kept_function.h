// A Python function that was given to us: kept until another is given, or none. With the GIL held.
#pragma once

struct _object;

namespace nanscope::torch_adapter {

class KeptFunction {
 public:
  void keep(_object* function);  // may be null
  [[nodiscard]] _object* get() const noexcept { return function_; }

 private:
  _object* function_ = nullptr;  // not given back at the end: Python may be gone by then
};

}  // namespace nanscope::torch_adapter
