// A fault that has not struck yet.
#pragma once

#include <cstdint>
#include <string>

namespace nanscope {

// What a warning is about, where nothing non-finite has happened yet.
struct Forewarning {
  std::string id;  // of the cause
  std::string name;
  std::string dtype;
  double value = 0;
  double limit = 0;
  std::int64_t steps = 0;
  bool goes_in = false;  // the value goes into what is named, and is not its result
};

}  // namespace nanscope
