#include "cli/reading_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <string>

namespace nanscope::cli {
namespace {

constexpr std::chrono::seconds kPatience{2};

void write_to_terminal(int descriptor, const std::string& text) {
  [[maybe_unused]] const ssize_t written = ::write(descriptor, text.data(), text.size());
}

}  // namespace

ReadingLine::ReadingLine(int descriptor, std::size_t all, Clock::time_point now)
    : descriptor_(descriptor), all_(all), began_(now) {}

ReadingLine::~ReadingLine() {
  if (shown_) write_to_terminal(descriptor_, "\r\x1b[K");
}

void ReadingLine::reach(std::size_t done, Clock::time_point now) {
  if (descriptor_ < 0 || now - began_ < kPatience) return;
  shown_ = true;
  write_to_terminal(descriptor_, fmt::format("\r\x1b[K{} of {} captures read", done, all_));
}

}  // namespace nanscope::cli
