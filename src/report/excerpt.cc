#include "report/excerpt.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "capture/utf8.h"
#include "report/unicode.h"

namespace nanscope::report {
namespace {

constexpr std::size_t kTab = 4;
constexpr std::size_t kMostLines = 8;
constexpr std::string_view kCut = "...";

// One character of source as it is shown.
struct Cell {
  std::string text;
  std::size_t columns = 0;
  bool marked = false;
  bool blank = false;
};

using Cells = std::vector<Cell>;

Cells cells_of(std::string_view line) {
  Cells cells;
  std::size_t column = 0;
  while (!line.empty()) {
    const char32_t c = take_code_point(line);
    Cell cell;
    if (c == '\t') {
      cell.columns = kTab - column % kTab;
      cell.text.assign(cell.columns, ' ');
    } else if (c != '\n' && c != '\r') {
      const char32_t shown = safe(c);
      append_utf8(cell.text, shown);
      cell.columns = columns_of(shown);
    }
    cell.blank = c == ' ' || c == '\t';
    column += cell.columns;
    cells.push_back(std::move(cell));
  }
  return cells;
}

// Marks characters [from, to), without the blanks at either end.
void mark(Cells& cells, std::size_t from, std::size_t to) {
  to = std::min(to, cells.size());
  while (from < to && cells[from].blank) ++from;
  while (to > from && cells[to - 1].blank) --to;
  for (std::size_t i = from; i < to; ++i) cells[i].marked = true;
}

std::size_t width(const Cells& cells) {
  std::size_t columns = 0;
  for (const Cell& cell : cells) columns += cell.columns;
  return columns;
}

// The part of a long line that shows the marked characters, with "..." where it was cut.
Cells around_the_mark(const Cells& cells, std::size_t columns) {
  if (width(cells) <= columns) return cells;
  const Cell cut{std::string(kCut), kCut.size(), false, false};
  const std::size_t lead = (columns - 2 * kCut.size()) / 4;  // columns shown before the mark

  std::size_t begin = 0;
  while (begin < cells.size() && !cells[begin].marked) ++begin;
  if (begin == cells.size()) begin = 0;  // nothing marked: the front
  for (std::size_t used = 0; begin > 0; --begin)
    if ((used += cells[begin - 1].columns) > lead) break;

  Cells shown(cells.begin() + static_cast<std::ptrdiff_t>(begin), cells.end());
  if (begin > 0) shown.insert(shown.begin(), cut);
  std::size_t used = width(shown);
  if (used <= columns) return shown;
  while (used + kCut.size() > columns) {
    used -= shown.back().columns;
    shown.pop_back();
  }
  shown.push_back(cut);
  return shown;
}

struct Rows {
  std::string source;
  std::string carets;  // empty if nothing is marked
};

Rows rows_of(const Cells& cells) {
  Rows rows;
  std::size_t length = 0;
  for (const Cell& cell : cells) {
    rows.source += cell.text;
    rows.carets.append(cell.columns, cell.marked ? '^' : ' ');
    if (cell.marked) length = rows.carets.size();
  }
  rows.carets.resize(length);
  rows.source.erase(rows.source.find_last_not_of(' ') + 1);
  return rows;
}

bool has_columns(const Site& site) {
  return !site.source.empty() && site.col >= 0 && site.end_line >= site.line &&
         (site.end_line > site.line || site.end_col > site.col);
}

void mark_expression(Cells& cells, const Site& site, int line) {
  const std::size_t from = line == site.line ? static_cast<std::size_t>(site.col) : 0;
  const std::size_t to =
      line == site.end_line ? static_cast<std::size_t>(std::max(site.end_col, 0)) : cells.size();
  mark(cells, from, to);
}

// Without source text the expression itself is all there is to show.
std::vector<std::string> lines_of(const Site& site) {
  if (!site.source.empty()) return site.source;
  return site.code.empty() ? std::vector<std::string>{} : std::vector{safe(site.code)};
}

}  // namespace

std::vector<std::string> excerpt(const Site& site, std::size_t columns, const Paint& paint) {
  const std::vector<std::string> source = lines_of(site);
  const std::size_t digits = std::to_string(site.line + static_cast<int>(source.size())).size();
  const std::string gutter = std::string(digits, ' ') + " | ";
  const std::size_t room = columns > gutter.size() + 20 ? columns - gutter.size() : 20;

  std::vector<std::string> lines;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const bool hidden = source.size() > kMostLines && i >= kMostLines - 3 && i + 2 < source.size();
    if (hidden) {
      if (i == kMostLines - 3) lines.push_back(paint.faint(std::string(digits, ' ') + " | ..."));
      continue;
    }
    const int line = site.line + static_cast<int>(i);
    Cells cells = cells_of(source[i]);
    if (has_columns(site)) mark_expression(cells, site, line);
    const Rows rows = rows_of(around_the_mark(cells, room));
    lines.push_back(paint.faint(padded(std::to_string(line), digits, Align::kRight) + " | ") +
                    rows.source);
    if (!rows.carets.empty()) {
      const std::size_t blanks = rows.carets.find('^');
      lines.push_back(paint.faint(gutter) + rows.carets.substr(0, blanks) +
                      paint.error(rows.carets.substr(blanks)));
    }
  }
  return lines;
}

}  // namespace nanscope::report
