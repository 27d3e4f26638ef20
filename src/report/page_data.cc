#include "report/page_data.h"

#include <algorithm>
#include <string>
#include <utility>

#include "capture/utf8.h"
#include "report/summary.h"

namespace nanscope::report {
namespace {

constexpr std::size_t kMostPageData = 700'000;  // bytes; the page itself has some 100,000
constexpr std::size_t kMostShortText = 300;
constexpr std::size_t kMostShortList = 8;
constexpr std::size_t kLeastFinding = 600;
constexpr std::size_t kReserve = 60'000;    // kept for the findings behind one that is large
constexpr std::size_t kMostOfRun = 60'000;  // what is told of a run beside its findings
constexpr std::size_t kMostOfRuns = 300'000;
constexpr std::size_t kLeastShare = 30'000;  // of a run with findings

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

// What is told of a run, without its findings, and these.
struct Apart {  // NOLINT(bugprone-exception-escape): a Json that is moved throws nothing
  Json report;
  Json findings;
};

Apart taken_apart(const Diagnosed& one) {
  Apart apart{json_document(one), Json::array()};
  apart.findings.swap(apart.report["findings"]);
  if (size_of(apart.report) > kMostOfRun) {
    in_short(apart.report);
    apart.report["shortened"] = true;
  }
  apart.report["capture"] = one.name;
  apart.report["findings_left_out"] = 0;
  return apart;
}

bool has_findings(const Apart& run) { return !run.findings.empty(); }

// Those that fit, at the places of their captures; null where one does not.
std::vector<Apart> runs_that_fit(const std::vector<Diagnosed>& captures, std::size_t& left) {
  std::vector<Apart> runs(captures.size());
  std::size_t room = kMostOfRuns;
  for (const bool with_error : {true, false}) {
    for (std::size_t i = 0; i < captures.size(); ++i) {
      if ((verdict_of(captures[i].capture) == "error") != with_error) continue;
      Apart apart = taken_apart(captures[i]);
      const std::size_t size = size_of(apart.report) + 1;
      if (size > room) return runs;
      room -= size;
      left -= size;
      runs[i] = std::move(apart);
    }
  }
  return runs;
}

// As many of the findings as there is room for, and takes that of it.
void add_findings(Apart& apart, std::size_t& room) {
  Json& kept = apart.report["findings"];
  Json& findings = apart.findings;
  std::size_t left_out = 0;
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
  apart.report["findings_left_out"] = left_out;
}

}  // namespace

// Of the runs with findings the first may have half of the room; the others share what is left, and
// what one does not need is there for those behind it. Rather a few are told than none.
PageReports page_reports(const std::vector<Diagnosed>& captures) {
  std::size_t left = kMostPageData;
  std::vector<Apart> runs = runs_that_fit(captures, left);
  std::erase_if(runs, [](const Apart& apart) { return apart.report.is_null(); });
  PageReports page;
  page.left_out = captures.size() - runs.size();
  auto waiting = static_cast<std::size_t>(
      std::count_if(runs.begin(), runs.end(), [](const Apart& run) { return has_findings(run); }));
  bool first = true;
  for (Apart& run : runs) {
    if (has_findings(run)) {
      const std::size_t equal = left / (first && waiting > 1 ? 2 : waiting);
      const std::size_t share = std::min(left, std::max(equal, kLeastShare));
      std::size_t room = share;
      add_findings(run, room);
      left -= share - room;
      --waiting;
      first = false;
    }
    page.reports.push_back(std::move(run.report));
  }
  return page;
}

}  // namespace nanscope::report
