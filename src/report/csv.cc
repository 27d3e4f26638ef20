#include "report/csv.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string_view>

#include "capture/utf8.h"
#include "report/unicode.h"

namespace nanscope {
namespace {

// Quoted where it must be. A spreadsheet would compute text that begins like a formula: such
// text gets an apostrophe in front.
std::string csv_cell(std::string_view text) {
  std::string cell = report::safe(valid_utf8(text));
  if (!cell.empty() && std::string_view("=+-@").find(cell.front()) != std::string_view::npos)
    cell.insert(0, "'");
  if (cell.find_first_of(",\"") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string csv_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return fmt::format("{}", value);
}

// Rows about one finding; what they have in common is written once.
class CsvRows {
 public:
  CsvRows(std::string front, std::string& text) : front_(std::move(front)), text_(text) {}

  void number(std::string_view record, const std::string& name, std::string_view step,
              std::string_view quantity, const std::optional<double>& value) {
    if (value) row(record, name, step, quantity, csv_number(*value));
  }
  void count(std::string_view record, const std::string& name, std::string_view quantity,
             std::int64_t value) {
    row(record, name, "", quantity, fmt::format("{}", value));
  }
  void row(std::string_view record, const std::string& name, std::string_view step,
           std::string_view quantity, std::string_view value) {
    text_ +=
        fmt::format("{},{},{},{},{},{}\n", front_, record, csv_cell(name), step, quantity, value);
  }

 private:
  std::string front_;
  std::string& text_;
};

void history_rows(const Finding& finding, CsvRows& rows) {
  for (const StepRecord& step : finding.history) {
    const std::string at = std::to_string(step.step);
    rows.number("history", "", at, "loss", step.loss);
    rows.number("history", "", at, "gradient_norm", step.gradient_norm);
    rows.number("history", "", at, "largest_parameter", step.largest_parameter);
    rows.number("history", "", at, "update_ratio", step.update_ratio);
    rows.number("history", "", at, "learning_rate", step.learning_rate);
    rows.number("history", "", at, "loss_scale", step.loss_scale);
  }
}

void tensor_rows(std::string_view record, const TensorFacts& tensor, CsvRows& rows) {
  const std::string name = tensor.name.empty() ? argument_text(tensor) : tensor.name;
  const Statistics& s = tensor.statistics;
  rows.count(record, name, "numel", s.numel);
  rows.number(record, name, "", "min", s.min);
  rows.number(record, name, "", "max", s.max);
  rows.number(record, name, "", "mean", s.mean);
  rows.count(record, name, "zeros", s.zeros);
  rows.count(record, name, "negatives", s.negatives);
  rows.count(record, name, "subnormals", s.subnormals);
  rows.count(record, name, "nan", s.nan);
  rows.count(record, name, "pos_inf", s.pos_inf);
  rows.count(record, name, "neg_inf", s.neg_inf);
}

}  // namespace

std::string csv_report(const std::vector<Diagnosed>& captures) {
  std::string text = "capture,finding,cause,record,name,step,quantity,value\n";
  for (const Diagnosed& one : captures)
    for (std::size_t i = 0; i < one.causes.size(); ++i) {
      const Finding& finding = one.capture.findings[i];
      CsvRows rows(fmt::format("{},{},{}", csv_cell(one.name), i, csv_cell(one.causes[i].id)),
                   text);
      history_rows(finding, rows);
      for (const TensorFacts& tensor : finding.inputs) tensor_rows("input", tensor, rows);
      for (const TensorFacts& tensor : finding.outputs) tensor_rows("output", tensor, rows);
      for (const Magnitude& magnitude : finding.magnitudes)
        rows.number("magnitude", magnitude.name, "", magnitude.gradient ? "gradient" : "value",
                    magnitude.largest);
    }
  return text;
}

}  // namespace nanscope
