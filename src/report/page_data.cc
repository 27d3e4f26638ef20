#include "report/page_data.h"

#include <algorithm>
#include <string>
#include <utility>

#include "capture/utf8.h"

namespace nanscope::report {
namespace {

constexpr std::size_t kMostPageData = 700'000;  // bytes; the page itself has some 100,000
constexpr std::size_t kMostShortText = 300;
constexpr std::size_t kMostShortList = 8;
constexpr std::size_t kLeastFinding = 600;
constexpr std::size_t kReserve = 60'000;  // kept for the findings behind one that is large

// As it will stand in the page, where markup is written as six bytes.
std::size_t size_of(const Json& json) {
  const std::string text = json_text(json, -1);
  const auto markup = std::count_if(text.begin(), text.end(),
                                    [](char c) { return c == '<' || c == '>' || c == '&'; });
  return text.size() + 5 * static_cast<std::size_t>(markup);
}

template <class F>
void for_each_tensor(Json& finding, F change) {
  for (const char* list : {"inputs", "outputs"})
    for (Json& tensor : finding[list]) change(tensor);
  for (Json& maker : finding["makers"])
    for (Json& tensor : maker["tensors"]) change(tensor);
}

void without_pictures(Json& finding) {
  finding.erase("modules");
  for_each_tensor(finding, [](Json& tensor) { tensor.erase("bad_map"); });
}

void without_byways(Json& finding) {
  finding["makers"] = Json::array();
  finding["magnitudes"] = Json::array();
  finding.erase("cleaned");
  finding.erase("received_by");
  for_each_tensor(finding, [](Json& tensor) { tensor.erase("exponents"); });
}

// Every text and list is cut. The diff goes as a whole: half of one would be another.
void in_short(Json& json) {
  if (json.is_string()) {
    json = cut_utf8(json.get_ref<const std::string&>(), kMostShortText);
  } else if (json.is_array()) {
    while (json.size() > kMostShortList) json.erase(json.size() - 1);
    for (Json& entry : json) in_short(entry);
  } else if (json.is_object()) {
    for (auto& [key, entry] : json.items()) {
      if (key == "diff" && entry.is_string() &&
          entry.get_ref<const std::string&>().size() > kMostShortText)
        entry = "";
      else
        in_short(entry);
    }
  }
}

// As much of it as fits; null if nothing does.
Json fitting(Json finding, std::size_t room) {
  if (size_of(finding) <= room) return finding;
  finding["shortened"] = true;
  for (const auto shorten : {without_pictures, without_byways, in_short}) {
    shorten(finding);
    if (size_of(finding) <= room) return finding;
  }
  return nullptr;
}

// Takes what it needs of the room.
Json page_report(const Diagnosed& one, std::size_t& room) {
  Json report = json_document(one);
  Json kept = Json::array();
  std::size_t left_out = 0;
  Json& findings = report["findings"];
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const std::size_t behind = std::min(room / 2, i + 1 < findings.size() ? kReserve : 0);
    Json finding;
    if (room - behind > kLeastFinding) finding = fitting(std::move(findings[i]), room - behind);
    if (finding.is_null()) {
      ++left_out;
      continue;
    }
    room -= std::min(room, size_of(finding) + 1);
    kept.push_back(std::move(finding));
  }
  report["findings"] = std::move(kept);
  report["findings_left_out"] = left_out;
  report["capture"] = one.name;
  return report;
}

}  // namespace

// The first may have half of the page; the others share what is left, and what one does not need is
// there for those behind it.
Json page_reports(const std::vector<Diagnosed>& captures) {
  std::size_t left = kMostPageData;
  Json reports = Json::array();
  for (std::size_t i = 0; i < captures.size(); ++i) {
    const std::size_t behind = captures.size() - i - 1;
    const std::size_t share = left / (i == 0 && behind > 0 ? 2 : behind + 1);
    std::size_t room = share;
    reports.push_back(page_report(captures[i], room));
    left -= share - room;
  }
  return reports;
}

}  // namespace nanscope::report
