#include "checkpoint/scan_json.h"

#include <nlohmann/json.hpp>

#include "base/harmless_json.h"

namespace nanscope::checkpoint {
namespace {

using Json = nlohmann::ordered_json;

Json number_or_null(const std::optional<double>& number) {
  return number ? Json(*number) : Json(nullptr);
}

Json tensor_json(const TensorRow& row, const ScanResult& result) {
  const SurveyedTensor& facts = *row.facts;
  const Census& census = facts.census;
  const bool sized = facts.has_extremes;
  return {{"file", result.opened.checkpoints[row.file].path},
          {"name", row.tensor->name},
          {"dtype", row.tensor->type.name},
          {"shape", row.tensor->sizes},
          {"nan", census.nan},
          {"pos_inf", census.pos_inf},
          {"neg_inf", census.neg_inf},
          {"zeros", census.zeros},
          {"subnormals", census.subnormals},
          {"min", sized ? Json(census.least) : Json(nullptr)},
          {"max", sized ? Json(census.most) : Json(nullptr)},
          {"fp16_room", number_or_null(float16_room(facts))},
          {"first_bad", facts.is_bad() ? Json(facts.bad_index) : Json(nullptr)}};
}

const char* odd_text(double value) { return value != value ? "nan" : value > 0 ? "inf" : "-inf"; }

Json scan_object(const ScanResult& result) {
  const ScanCounts counts = counts_of(result);
  const bool unknown = counts.left_out > 0 || !result.opened.errors.empty();
  Json json{{"schema", "nanscope-scan/1"},
            {"verdict", counts.bad > 0 ? "non_finite"
                        : unknown      ? "unknown"
                                       : "finite"},
            {"bad_tensors", counts.bad},
            {"files", Json::array()},
            {"tensors", Json::array()},
            {"left_out", Json::array()},
            {"odd_numbers", Json::array()},
            {"errors", Json::array()}};
  for (const Checkpoint& checkpoint : result.opened.checkpoints) {
    json["files"].push_back({{"path", checkpoint.path},
                             {"format", checkpoint.contents.format},
                             {"bytes", checkpoint.bytes},
                             {"tensors", checkpoint.contents.tensors.size()}});
    for (const OddNumber& odd : checkpoint.contents.odd_numbers)
      json["odd_numbers"].push_back(
          {{"file", checkpoint.path}, {"name", odd.name}, {"value", odd_text(odd.value)}});
  }
  for (const TensorRow& row : rows_by_badness(result))
    json["tensors"].push_back(tensor_json(row, result));
  for (const LeftOutRow& row : left_out_of(result))
    json["left_out"].push_back(
        {{"file", result.opened.checkpoints[row.file].path}, {"name", row.name}, {"why", row.why}});
  for (const Error& error : result.opened.errors) json["errors"].push_back(error.message);
  json["bytes_read"] = result.bytes;
  json["seconds"] = result.seconds;
  return json;
}

// A number that JSON has no word for is a text.
Json number_json(double number) {
  return number == number && number - number == 0 ? Json(number) : Json(odd_text(number));
}

std::string printed(const Json& json) {
  return harmless_json(json.dump(1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace

std::string scan_json(const ScanResult& result) { return printed(scan_object(result)); }

std::string compare_json(const ScanResult& now, const Comparison& comparison,
                         const std::string& against) {
  Json json = scan_object(now);
  Json changes = Json::array();
  for (const Change& change : comparison.changes)
    changes.push_back({{"name", change.name},
                       {"change", name_of(change.kind)},
                       {"moved", number_json(change.moved)},
                       {"largest_step", number_json(change.largest_step)}});
  for (const Error& error : comparison.errors) json["errors"].push_back(error.message);
  json["against"] = {{"path", against}, {"changes", std::move(changes)}};
  return printed(json);
}

}  // namespace nanscope::checkpoint
