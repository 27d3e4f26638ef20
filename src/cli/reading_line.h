// A line on the terminal that says how many captures have been read, where that takes longer than
// two seconds. It is gone when they are.
#pragma once

#include <chrono>
#include <cstddef>

namespace nanscope::cli {

class ReadingLine {
 public:
  using Clock = std::chrono::steady_clock;

  // Below zero the descriptor is nobody's: nothing is written.
  ReadingLine(int descriptor, std::size_t all, Clock::time_point now = Clock::now());
  ~ReadingLine();
  ReadingLine(const ReadingLine&) = delete;
  ReadingLine& operator=(const ReadingLine&) = delete;

  void reach(std::size_t done, Clock::time_point now = Clock::now());

 private:
  int descriptor_;
  std::size_t all_;
  Clock::time_point began_;
  bool shown_ = false;
};

}  // namespace nanscope::cli
