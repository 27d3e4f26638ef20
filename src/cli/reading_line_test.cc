#include "cli/reading_line.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>

namespace nanscope::cli {
namespace {

// What a line wrote that reached two captures, so many seconds after it began.
std::string written_after(std::chrono::seconds first, std::chrono::seconds second) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  {
    const ReadingLine::Clock::time_point began{};
    ReadingLine line(ends[1], 300, began);
    line.reach(1, began + first);
    line.reach(2, began + second);
  }
  ::close(ends[1]);
  std::string text(200, '\0');
  text.resize(static_cast<std::size_t>(::read(ends[0], text.data(), text.size())));
  ::close(ends[0]);
  return text;
}

TEST(ReadingLine, ComesAfterTwoSecondsAndGoes) {
  using std::chrono::seconds;
  EXPECT_EQ(written_after(seconds{0}, seconds{1}), "");
  EXPECT_EQ(written_after(seconds{1}, seconds{2}), "\r\x1b[K2 of 300 captures read\r\x1b[K");
}

}  // namespace
}  // namespace nanscope::cli
