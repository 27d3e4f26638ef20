#include "capture/decode.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <vector>

#include "base/harmless_json.h"
#include "capture/cbor_check.h"
#include "capture/fields.h"
#include "capture/older.h"
#include "capture/pictures.h"
#include "capture/utf8.h"
#include "records/words.h"

namespace nanscope {
namespace {

using Json = nlohmann::json;

// Far above what is ever written.
constexpr std::size_t kMostTextBytes = 1 << 16;

// Fills records in; the first thing that is wrong is kept, with the way to it.
class Decoder {
 public:
  [[nodiscard]] const std::optional<Error>& fault() const { return fault_; }

  void read(const Json& json, std::string& text) {
    if (!json.is_string()) return blame("is not text");
    text = cut_utf8(json.get_ref<const std::string&>(), kMostTextBytes);
  }
  void read(const Json& json, bool& flag) {
    if (!json.is_boolean()) return blame("is neither true nor false");
    flag = json.get<bool>();
  }
  void read(const Json& json, double& number) {
    if (!json.is_number()) return blame("is not a number");
    number = json.get<double>();
  }
  template <class Int>
  requires std::is_same_v<Int, int> || std::is_same_v<Int, std::int64_t>
  void read(const Json& json, Int& number) {
    if (!json.is_number_integer()) return blame("is not an integer");
    // Less than the type holds: sums of a few of them must not overflow either.
    constexpr std::int64_t kMost = std::is_same_v<Int, int> ? 1 << 30 : std::int64_t{1} << 53;
    const bool fits = json.is_number_unsigned()
                          ? json.get<std::uint64_t>() <= static_cast<std::uint64_t>(kMost)
                          : json.get<std::int64_t>() >= -kMost;
    if (!fits) return blame("is out of range");
    number = static_cast<Int>(json.get<std::int64_t>());
  }
  template <Worded Enum>
  void read(const Json& json, Enum& value) {
    if (!json.is_string()) return blame("is not a word");
    const auto known = from_word<Enum>(json.get_ref<const std::string&>());
    if (!known) return blame("holds a word this version does not know", ErrorCode::kNewer);
    value = *known;
  }
  void read(const Json& json, Value& value) {
    if (!json.is_array()) return read(json, value.real);
    if (json.size() != 2) return blame("is not a pair");
    value.is_complex = true;
    read(json[0], value.real);
    read(json[1], value.imag);
  }
  template <class T>
  void read(const Json& json, std::optional<T>& maybe) {
    if (json.is_null()) return maybe.reset();
    read(json, maybe.emplace());
  }
  template <class T>
  void read(const Json& json, std::vector<T>& list) {
    if (!json.is_array()) return blame("is not a list");
    list.clear();
    for (const Json& entry : json) {
      if (fault_) return;
      read(entry, list.emplace_back());
    }
  }
  template <class Record>
  requires std::is_class_v<Record>
  void read(const Json& json, Record& record) {
    if (!json.is_object()) return blame("is not a map");
    auto visit = [&](const char* key, auto& field) {
      const auto found = json.find(key);
      if (fault_ || found == json.end()) return;
      const std::size_t length = path_.size();
      path_ += path_.empty() ? key : fmt::format(".{}", key);
      read(*found, field);
      path_.resize(length);
    };
    fields(visit, record);
    if (!fault_) read_older(json, record);
    if (const char* const problem = fault_ ? nullptr : problem_of(record)) blame(problem);
  }

  void blame(const char* what, ErrorCode code = ErrorCode::kDamaged) {
    if (fault_) return;
    fault_ = Error{code, fmt::format("{} {}", path_.empty() ? "the record" : path_, what)};
  }

 private:
  std::string path_;
  std::optional<Error> fault_;
};

Result<Json> parse(std::string_view payload) {
  const Error malformed{ErrorCode::kDamaged, "the record is not well-formed CBOR"};
  if (!is_safe_cbor(payload)) return malformed;
  try {
    Json json = Json::from_cbor(payload, /*strict=*/true, /*allow_exceptions=*/false);
    if (json.is_discarded()) return malformed;
    return json;
  } catch (...) {
    return malformed;
  }
}

template <class Record>
Result<Record> decode(std::string_view payload) {
  const Result<Json> json = parse(payload);
  if (!json) return json.error();
  Record record;
  Decoder decoder;
  decoder.read(json.value(), record);
  if (decoder.fault()) return *decoder.fault();
  return record;
}

// Strict JSON knows no NaN: such numbers become words.
void spell_out(Json& json) {
  if (json.is_structured()) {
    for (Json& entry : json) spell_out(entry);
  } else if (json.is_number_float() && !std::isfinite(json.get<double>())) {
    const double number = json.get<double>();
    json = std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
  } else if (json.is_binary()) {
    json = fmt::format("{} bytes", json.get_binary().size());
  }
}

}  // namespace

Result<Program> decode_program(std::string_view payload) { return decode<Program>(payload); }
Result<Coverage> decode_coverage(std::string_view payload) { return decode<Coverage>(payload); }
Result<Fix> decode_fix(std::string_view payload) { return decode<Fix>(payload); }
Result<Repair> decode_repair(std::string_view payload) { return decode<Repair>(payload); }
Result<Withdrawal> decode_withdrawal(std::string_view payload) {
  return decode<Withdrawal>(payload);
}

Result<Finding> decode_finding(std::string_view payload) {
  Result<Finding> finding = decode<Finding>(payload);
  if (finding && finding.value().origin.op.empty())
    return Error{ErrorCode::kDamaged, "origin.op is missing"};
  return finding;
}

Result<std::string> readable(std::string_view payload) {
  Result<Json> json = parse(payload);
  if (!json) return json.error();
  spell_out(json.value());
  return harmless_json(json.value().dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace nanscope
