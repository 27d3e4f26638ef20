#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "diagnose/phrase.h"
#include "report/block_histogram.h"
#include "report/unicode.h"

namespace nanscope::report {
namespace {

constexpr std::size_t kWidestColumn = 30;
constexpr std::size_t kHistogramColumns = 16;
constexpr std::string_view kGap = "  ";

using Column = std::vector<std::string>;  // the head first

std::string statistic(const std::optional<double>& value) { return value ? number(*value) : "-"; }

Column labels(const std::vector<Index>& failing, std::size_t elements) {
  Column column{"",      "dtype",     "shape",      "min", "max",  "mean",
                "zeros", "negatives", "subnormals", "NaN", "+Inf", "-Inf"};
  for (std::size_t i = 0; i < elements; ++i)
    column.push_back(failing[i].empty() ? "its value" : "at " + cut(bracketed(failing[i]), 24));
  return column;
}

// How large the numbers are, below the statistics: two rows, where one of the tensors has them.
void add_histogram(const TensorFacts& tensor, Column& column) {
  const BlockHistogram drawn =
      tensor.exponents ? block_histogram(*tensor.exponents, kHistogramColumns) : BlockHistogram{};
  column.push_back(drawn.blocks.empty() ? "-" : drawn.blocks);
  column.push_back(drawn.range.empty() ? "-" : drawn.range);
}

bool has_histogram(const TensorFacts& tensor) {
  return tensor.exponents && !tensor.exponents->bins.empty();
}

Column column_of(const TensorFacts& tensor, std::size_t elements) {
  const Statistics& s = tensor.statistics;
  // Inside backward the operands have no name in the source: the schema's has to do.
  const std::string name = !tensor.name.empty()       ? safe(tensor.name)
                           : !tensor.argument.empty() ? safe(argument_text(tensor))
                                                      : std::string("(unnamed)");
  Column column{name,
                safe(tensor.dtype),
                bracketed(tensor.shape),
                statistic(s.min),
                statistic(s.max),
                statistic(s.mean),
                grouped(s.zeros),
                grouped(s.negatives),
                grouped(s.subnormals),
                grouped(s.nan),
                grouped(s.pos_inf),
                grouped(s.neg_inf)};
  for (std::size_t i = 0; i < elements; ++i)
    column.push_back(i < tensor.at_index.size() ? number(tensor.at_index[i]) : "-");
  for (std::string& cell : column) cell = cut(cell, kWidestColumn);
  return column;
}

std::size_t width_of(const Column& column) {
  std::size_t width = 0;
  for (const std::string& cell : column) width = std::max(width, columns_of(cell));
  return width;
}

// The counts, zeros to -Inf: one that is 0 for every tensor says nothing.
constexpr std::size_t kFirstCount = 6;
constexpr std::size_t kLastCount = 11;

bool is_row_of_zeros(const std::vector<Column>& block, std::size_t row) {
  return row >= kFirstCount && row <= kLastCount &&
         std::all_of(block.begin() + 1, block.end(),
                     [row](const Column& column) { return column[row] == "0"; });
}

// Rows across some columns.
void print(const std::vector<Column>& block, const Paint& paint, std::vector<std::string>& lines) {
  for (std::size_t row = 0; row < block[0].size(); ++row) {
    if (is_row_of_zeros(block, row)) continue;
    std::string line;
    for (std::size_t i = 0; i < block.size(); ++i) {
      const std::string cell =
          padded(block[i][row], width_of(block[i]), i == 0 ? Align::kLeft : Align::kRight);
      line +=
          i == 0 ? paint.faint(cell) : std::string(kGap) + (row == 0 ? paint.title(cell) : cell);
    }
    lines.push_back(line);
  }
}

}  // namespace

std::vector<std::string> statistics_table(const std::vector<TensorFacts>& tensors,
                                          const std::vector<Index>& failing, std::size_t elements,
                                          std::size_t columns, const Paint& paint) {
  elements = std::min(elements, failing.size());
  Column names = labels(failing, elements);
  const bool histograms = std::any_of(tensors.begin(), tensors.end(), has_histogram);
  if (histograms) names.insert(names.end(), {"exponents", ""});
  std::vector<std::string> lines;
  std::vector<Column> block{names};
  std::size_t used = width_of(names);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Column column = column_of(tensors[i], elements);
    if (histograms) add_histogram(tensors[i], column);
    const std::size_t width = kGap.size() + width_of(column);
    if (block.size() > 1 && used + width > columns) {
      print(block, paint, lines);
      lines.emplace_back();
      block.assign(1, names);
      used = width_of(names);
    }
    block.push_back(std::move(column));
    used += width;
  }
  if (block.size() > 1) print(block, paint, lines);
  return lines;
}

}  // namespace nanscope::report
