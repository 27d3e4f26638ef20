#include "report/stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "base/dtype.h"
#include "diagnose/phrase.h"
#include "records/words.h"
#include "report/json_document.h"
#include "report/json_number.h"
#include "report/module_rooms.h"
#include "report/sentence.h"
#include "report/summary.h"
#include "report/unicode.h"

namespace nanscope {
namespace {

constexpr std::size_t kMostModules = 12;  // in the text

// How near a tensor came to the largest number of its type.
struct HeadRoom {
  std::string name;
  std::string dtype;
  double largest = 0;
  double bits = 0;  // doublings that are left
};

std::optional<HeadRoom> head_room_of(const TensorFacts& tensor) {
  const std::optional<DType> dtype = scannable_named(tensor.dtype);
  if (!dtype || !tensor.statistics.min || !tensor.statistics.max) return std::nullopt;
  const double largest =
      std::max(std::fabs(*tensor.statistics.min), std::fabs(*tensor.statistics.max));
  if (!(largest > 0) || !std::isfinite(largest)) return std::nullopt;
  const std::string name = tensor.name.empty() ? argument_text(tensor) : tensor.name;
  return HeadRoom{name.empty() ? "(unnamed)" : name, tensor.dtype, largest,
                  std::log2(largest_of(*dtype)) - std::log2(largest)};
}

// The least first. A tensor that several findings saw is counted where it came nearest.
std::vector<HeadRoom> head_rooms(const Capture& capture) {
  std::map<std::pair<std::string, std::string>, HeadRoom> least;
  const auto take = [&](const TensorFacts& tensor) {
    const std::optional<HeadRoom> one = head_room_of(tensor);
    if (!one) return;
    const auto [place, added] = least.try_emplace({one->name, one->dtype}, *one);
    if (!added && one->bits < place->second.bits) place->second = *one;
  };
  for (const Finding& finding : capture.findings) {
    std::for_each(finding.inputs.begin(), finding.inputs.end(), take);
    std::for_each(finding.outputs.begin(), finding.outputs.end(), take);
    for (const Maker& maker : finding.makers)
      std::for_each(maker.tensors.begin(), maker.tensors.end(), take);
  }
  std::vector<HeadRoom> sorted;
  for (const auto& [key, one] : least) sorted.push_back(one);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const HeadRoom& a, const HeadRoom& b) { return a.bits < b.bits; });
  return sorted;
}

struct SiteNotes {
  std::string site;
  std::string cause;
  std::string fate;
  std::int64_t count = 0;
};

// The most frequent first.
std::vector<SiteNotes> notes_per_site(const Diagnosed& diagnosed) {
  std::vector<SiteNotes> notes;
  for (std::size_t i = 0; i < diagnosed.causes.size(); ++i) {
    const Finding& finding = diagnosed.capture.findings[i];
    if (finding.level == Level::kNote)
      notes.push_back({report::position(finding.origin.site), diagnosed.causes[i].id, finding.fate,
                       finding.count});
  }
  std::stable_sort(notes.begin(), notes.end(),
                   [](const SiteNotes& a, const SiteNotes& b) { return a.count > b.count; });
  return notes;
}

Json stats_of(const Diagnosed& diagnosed) {
  const Capture& capture = diagnosed.capture;
  const Coverage& coverage = capture.coverage;
  Json json{{"capture", diagnosed.name},
            {"verdict", verdict_of(capture)},
            {"mode", capture.program.mode},
            {"ops_watched", coverage.ops_watched},
            {"bytes_scanned", coverage.bytes_scanned},
            {"steps", coverage.steps},
            {"errors", findings_of(capture, Level::kError)},
            {"warnings", findings_of(capture, Level::kWarning)},
            {"notes", findings_of(capture, Level::kNote)}};
  Json rooms = Json::array();
  for (const HeadRoom& one : head_rooms(capture))
    rooms.push_back({{"name", one.name},
                     {"dtype", one.dtype},
                     {"largest", one.largest},
                     {"bits_left", one.bits}});
  json["head_room"] = std::move(rooms);
  json["modules"] = Json::array();
  for (const report::ModuleRoom& room : report::module_rooms(capture.findings))
    json["modules"].push_back({{"path", room.path},
                               {"what", room.what},
                               {"dtype", room.dtype},
                               {"largest", report::number_json(room.largest)},
                               {"bits_left", room.bits}});
  if (capture.program.seconds) json["seconds"] = report::number_json(*capture.program.seconds);
  if (capture.program.own_seconds)
    json["own_seconds"] = report::number_json(*capture.program.own_seconds);
  Json sites = Json::array();
  for (const SiteNotes& note : notes_per_site(diagnosed))
    sites.push_back({{"site", note.site},
                     {"cause", note.cause},
                     {"fate", note.fate.empty() ? Json() : Json(note.fate)},
                     {"count", note.count}});
  json["notes_per_site"] = std::move(sites);
  return json;
}

// Columns of text, the numbers to the right.
class StatsTable {
 public:
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  [[nodiscard]] std::string text(std::size_t columns) const {
    std::vector<std::size_t> widths;
    for (const auto& row : rows_) {
      widths.resize(std::max(widths.size(), row.size()));
      for (std::size_t i = 0; i < row.size(); ++i)
        widths[i] = std::max(widths[i], report::columns_of(row[i]));
    }
    std::string text;
    for (const auto& row : rows_) {
      std::string line = "  ";
      for (std::size_t i = 0; i < row.size(); ++i)
        line += (i == 0 ? "" : "  ") +
                report::padded(row[i], widths[i],
                               i == 0 ? report::Align::kLeft : report::Align::kRight);
      text += report::cut(line, columns) + "\n";
    }
    return text;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

// The modules that came nearest to the end of their type, and the least of each type.
std::string module_tables(const Capture& capture, std::size_t columns) {
  const std::vector<report::ModuleRoom> rooms = report::module_rooms(capture.findings);
  if (rooms.empty()) return {};
  StatsTable modules;
  modules.row({"module", "of its", "dtype", "largest", "doublings left"});
  const auto add = [&](StatsTable& table, const std::string& first,
                       const report::ModuleRoom& room) {
    table.row({first, room.what, report::safe(room.dtype), number(room.largest),
               fmt::format("{:.1f}", room.bits)});
  };
  for (std::size_t i = 0; i < std::min(rooms.size(), kMostModules); ++i)
    add(modules, report::cut_front(report::safe(rooms[i].path), columns / 3), rooms[i]);
  std::string text = "\n" + modules.text(columns);
  if (rooms.size() > kMostModules)
    text += fmt::format("  and {} more modules (--json has them)\n",
                        grouped(static_cast<std::int64_t>(rooms.size() - kMostModules)));
  StatsTable types;
  types.row({"least of each type", "of its", "dtype", "largest", "doublings left"});
  for (const report::ModuleRoom& room : report::least_of_each_type(rooms))
    add(types, report::cut_front(report::safe(room.path), columns / 3), room);
  return text + "\n" + types.text(columns);
}

std::string stats_text(const Diagnosed& diagnosed, std::size_t columns) {
  const Capture& capture = diagnosed.capture;
  const Coverage& coverage = capture.coverage;
  StatsTable amounts;
  amounts.row({"ops watched", grouped(coverage.ops_watched)});
  amounts.row({"bytes scanned", byte_count(coverage.bytes_scanned)});
  amounts.row({"steps", grouped(coverage.steps)});
  if (capture.program.seconds)
    amounts.row({"seconds watched", fmt::format("{:.1f}", *capture.program.seconds)});
  if (capture.program.own_seconds)
    amounts.row({"own seconds, about", fmt::format("{:.1f}", *capture.program.own_seconds)});
  for (const Level level : {Level::kError, Level::kWarning, Level::kNote})
    amounts.row({fmt::format("{}s", word_of(level)), grouped(findings_of(capture, level))});
  std::string text =
      report::cut(report::safe(diagnosed.name), columns) + "\n" + amounts.text(columns);

  if (const std::vector<HeadRoom> rooms = head_rooms(capture); !rooms.empty()) {
    StatsTable table;
    table.row({"head-room", "dtype", "largest", "doublings left"});
    for (const HeadRoom& one : rooms)
      table.row({report::cut(report::safe(one.name), columns / 2), report::safe(one.dtype),
                 number(one.largest), fmt::format("{:.1f}", one.bits)});
    text += "\n" + table.text(columns);
  }
  text += module_tables(capture, columns);
  if (const std::vector<SiteNotes> notes = notes_per_site(diagnosed); !notes.empty()) {
    StatsTable table;
    table.row({"notes at", "cause", "fate", "times"});
    for (const SiteNotes& note : notes)
      table.row({note.site, note.cause, report::safe(note.fate), grouped(note.count)});
    text += "\n" + table.text(columns);
  }
  return text;
}

}  // namespace

std::string text_stats(const std::vector<Diagnosed>& captures, std::size_t columns) {
  columns = std::clamp<std::size_t>(columns, 60, 200);
  std::string text;
  for (const Diagnosed& capture : captures)
    text += (text.empty() ? "" : "\n") + stats_text(capture, columns);
  return text;
}

std::string json_stats(const std::vector<Diagnosed>& captures) {
  Json list = Json::array();
  for (const Diagnosed& capture : captures) list.push_back(stats_of(capture));
  return json_text(list) + "\n";
}

}  // namespace nanscope
