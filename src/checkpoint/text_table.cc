#include "checkpoint/text_table.h"

#include <algorithm>

#include "report/unicode.h"

namespace nanscope::checkpoint {
namespace {

constexpr std::size_t kNarrowestName = 16;

}  // namespace

std::vector<std::string> lines_of_table(const std::vector<Cells>& rows, std::size_t left,
                                        std::size_t columns) {
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (const Cells& cells : rows)
    for (std::size_t i = 0; i < cells.size(); ++i)
      widths[i] = std::max(widths[i], report::columns_of(cells[i]));
  std::size_t others = 2;  // the margin
  for (std::size_t i = 1; i < widths.size(); ++i) others += 2 + widths[i];
  const std::size_t room = columns > others ? columns - others : 0;
  widths[0] = std::min(widths[0], std::max(room, kNarrowestName));

  std::vector<std::string> lines;
  for (const Cells& cells : rows) {
    std::string line = "  ";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto align = i < left ? report::Align::kLeft : report::Align::kRight;
      const std::string cell = i == 0 ? report::cut_front(cells[0], widths[0]) : cells[i];
      line += (i == 0 ? "" : "  ") + report::padded(cell, widths[i], align);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace nanscope::checkpoint
