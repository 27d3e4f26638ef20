#include "capture/encode.h"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "capture/fields.h"
#include "capture/format.h"
#include "capture/pictures.h"
#include "capture/secrets.h"
#include "capture/utf8.h"
#include "records/words.h"

namespace nanscope {
namespace {

using Json = nlohmann::json;

struct Limits {
  std::size_t text;
  std::size_t list;
};
constexpr Limits kGenerous{4096, 128};
// The worst record within these is far below kMostRecordBytes.
constexpr Limits kTight{256, 16};

class Encoder {
 public:
  explicit Encoder(Limits limits) : limits_(limits) {}

  Json operator()(const std::string& text) const { return cut_utf8(text, limits_.text); }
  Json operator()(bool flag) const { return flag; }
  Json operator()(int number) const { return number; }
  Json operator()(std::int64_t number) const { return number; }
  Json operator()(double number) const { return number; }
  Json operator()(Worded auto word) const { return std::string(word_of(word)); }
  Json operator()(const Value& value) const {
    if (value.is_complex) return Json::array({value.real, value.imag});
    return value.real;
  }
  template <class T>
  Json operator()(const std::optional<T>& maybe) const {
    return maybe ? (*this)(*maybe) : Json(nullptr);
  }
  template <class T>
  Json operator()(const std::vector<T>& list) const {
    // Bins, cells and modules have bounds of their own (pictures.h).
    const bool bounded = std::is_same_v<T, ModuleFacts> || whole_lists_;
    Json array = Json::array();
    for (const T& entry : list) {
      if (!bounded && array.size() == limits_.list) break;
      array.push_back((*this)(entry));
    }
    return array;
  }
  template <class Record>
  requires std::is_class_v<Record> Json operator()(const Record& record) const {
    Json map = Json::object();
    Encoder inner = *this;
    inner.whole_lists_ =
        std::is_same_v<Record, ExponentHistogram> || std::is_same_v<Record, BadMap>;
    auto visit = [&](const char* key, const auto& field) {
      Json value = inner(field);
      // There may be thousands of modules: what is not known of one takes no room.
      const bool says_nothing =
          value.is_null() ||
          (value.is_string() && value.template get_ref<const std::string&>().empty());
      if (!std::is_same_v<Record, ModuleFacts> || !says_nothing) map[key] = std::move(value);
    };
    fields(visit, record);
    return map;
  }

 private:
  Limits limits_;
  bool whole_lists_ = false;
};

// Cutting the lists of a finding must show in the finding.
Finding within(Finding finding, Limits limits) {
  auto& chain = finding.chain;
  if (chain.size() > limits.list) {
    // The middle goes: where it began and where it did harm are the point.
    const auto half = static_cast<std::ptrdiff_t>(limits.list / 2);
    const auto cut = static_cast<std::ptrdiff_t>(chain.size()) - 2 * half;
    chain.erase(chain.begin() + half, chain.end() - half);
    finding.chain_truncated = true;
    for (Link& branch : finding.cleaned) {
      if (!branch.parent || *branch.parent < half) continue;
      if (*branch.parent < half + cut)
        branch.parent.reset();
      else
        *branch.parent -= static_cast<int>(cut);
    }
  }
  if (finding.inputs.size() > limits.list) {
    finding.inputs_left_out += static_cast<std::int64_t>(finding.inputs.size() - limits.list);
    finding.inputs.resize(limits.list);
  }
  keep_pictures_within_bounds(finding);
  return finding;
}

const Program& within(const Program& program, Limits) { return program; }
const Coverage& within(const Coverage& coverage, Limits) { return coverage; }
const Fix& within(const Fix& fix, Limits) { return fix; }
const Repair& within(const Repair& repair, Limits) { return repair; }
const Withdrawal& within(const Withdrawal& withdrawal, Limits) { return withdrawal; }

template <class Record>
std::string encode_within_bounds(const Record& record) {
  std::string payload;
  for (const Limits limits : {kGenerous, kTight}) {
    payload.clear();
    Json::to_cbor(Encoder(limits)(within(record, limits)),
                  nlohmann::detail::output_adapter<char>(payload));
    if (payload.size() <= kMostRecordBytes) break;
  }
  return payload;
}

}  // namespace

std::string encode(const Program& program) {
  Program masked = program;
  masked.argv = mask_secrets(program.argv);
  return encode_within_bounds(masked);
}

std::string encode(const Finding& finding) { return encode_within_bounds(finding); }

std::string encode(const Coverage& coverage) { return encode_within_bounds(coverage); }

std::string encode(const Fix& fix) { return encode_within_bounds(fix); }

std::string encode(const Repair& repair) { return encode_within_bounds(repair); }

std::string encode(const Withdrawal& withdrawal) { return encode_within_bounds(withdrawal); }

}  // namespace nanscope
