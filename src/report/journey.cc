#include "report/journey.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "diagnose/phrase.h"
#include "records/words.h"
#include "report/unicode.h"

namespace nanscope::report {
namespace {

constexpr std::size_t kMostStops = 8;  // shown unless verbose

struct Stop {
  Role role;
  std::string role_word;
  std::string place;
  std::string what;
  std::string code;
};

Role role_of(OriginKind kind) {
  switch (kind) {
    case OriginKind::kDeclared:
      return Role::kDeclared;
    case OriginKind::kImported:
      return Role::kImported;
    case OriginKind::kReceived:
      return Role::kReceived;
    default:
      return Role::kBirth;
  }
}

std::string code_of(const Site& site) {
  return site.code.empty() ? "" : safe(in_backticks(site.code));
}

std::string place_text(const Site& site) {
  if (site.file.empty()) return "(unknown place)";
  return fmt::format("{}:{}", safe(site.file), site.line);
}

Stop first_stop(const Origin& origin) {
  return {role_of(origin.kind), std::string(word_of(origin.kind)), place_text(origin.site),
          safe(origin.op), code_of(origin.site)};
}

Stop harm_stop(const Harm& harm, const std::optional<Site>& site) {
  return {Role::kHarm, "harm", site && !site->file.empty() ? place_text(*site) : "",
          harm_text(harm), ""};
}

bool same_place(const Stop& a, const Stop& b) { return a.role == b.role && a.place == b.place; }

// What the origin was made from, a mask, may stand before it.
const Link* link_of_origin(const Finding& finding) {
  const auto is_it = [&](const Link& link) {
    const Site& site = finding.origin.site;
    return link.op == finding.origin.op && link.site.file == site.file &&
           link.site.line == site.line && link.site.col == site.col;
  };
  const auto found = std::find_if(finding.chain.begin(), finding.chain.end(), is_it);
  if (found != finding.chain.end()) return &*found;
  return finding.chain.empty() ? nullptr : &finding.chain.front();
}

std::vector<Stop> stops_of(const Finding& finding) {
  std::vector<Stop> stops;
  if (finding.chain.empty()) stops.push_back(first_stop(finding.origin));
  const Link* origin = link_of_origin(finding);
  bool harmed = false;
  for (const Link& link : finding.chain) {
    if (link.role == Role::kHarm && finding.harm) {
      stops.push_back(
          harm_stop(*finding.harm, finding.harm->site ? finding.harm->site : link.site));
      harmed = true;
      continue;
    }
    Stop stop{link.role, std::string(word_of(link.role)), place_text(link.site), safe(link.op),
              code_of(link.site)};
    if (&link == origin) {
      stop.role = role_of(finding.origin.kind);
      stop.role_word = word_of(finding.origin.kind);
    }
    if (!stops.empty() && same_place(stops.back(), stop)) {
      stops.back().what += ", " + stop.what;
      stops.back().code.clear();
    } else {
      stops.push_back(std::move(stop));
    }
  }
  if (finding.harm && !harmed) stops.push_back(harm_stop(*finding.harm, finding.harm->site));
  return stops;
}

template <class F>
std::size_t widest(const std::vector<Stop>& stops, F part) {
  std::size_t width = 0;
  for (const Stop& stop : stops) width = std::max(width, columns_of(part(stop)));
  return width;
}

// How wide the columns of all stops are.
struct Widths {
  std::size_t role = 0;
  std::size_t place = 0;
  std::size_t all = 0;

  // What was done there has a third of the line, or stands above the place.
  [[nodiscard]] bool beside() const { return role + place + 4 + all / 3 <= all; }
};

// What was done, and by which expression if there is room.
std::string deed_of(const Stop& stop, std::size_t room) {
  std::string deed = stop.what;
  if (!stop.code.empty() && columns_of(deed) + columns_of(stop.code) + 2 <= room)
    deed += "  " + stop.code;
  return cut(deed, room);
}

void add_lines(const Stop& stop, const Widths& widths, const Paint& paint,
               std::vector<std::string>& lines) {
  const std::string role = padded(stop.role_word, widths.role);
  const bool loud = stop.role == Role::kHarm || stop.role == Role::kBirth;
  const std::string painted = (loud ? paint.error(role) : paint.faint(role)) + "  ";
  if (widths.beside()) {
    const std::size_t used = widths.role + widths.place + 4;
    lines.push_back(painted + padded(stop.place, widths.place) + "  " +
                    deed_of(stop, widths.all - used));
    return;
  }
  const std::size_t indent = widths.role + 2;
  lines.push_back(painted + deed_of(stop, widths.all - indent));
  if (stop.place.empty()) return;
  const bool fits = indent + widths.place <= widths.all;
  lines.push_back(std::string(fits ? indent : 2, ' ') + stop.place);
}

}  // namespace

std::string harm_text(const Harm& harm) {
  const std::string name = harm.name ? in_backticks(safe(*harm.name)) : "";
  const auto of = [&](std::string_view known, std::string_view unknown) {
    return harm.name ? fmt::format("{} {}", known, name) : std::string(unknown);
  };
  const std::string text = safe(harm.text);
  switch (harm.kind) {
    case HarmKind::kGradient:
      return of("the gradient of", "a gradient") + " is not finite";
    case HarmKind::kParameter:
      return of("the parameter", "a parameter") + " became non-finite";
    case HarmKind::kBuffer:
      return of("the buffer", "a buffer") + " became non-finite";
    case HarmKind::kOptimizerState:
      return of("the optimizer's state", "the optimizer's state") + " became non-finite";
    case HarmKind::kException:
      return text.empty() ? "an exception was raised" : "exception: " + text;
    case HarmKind::kGuard:
      return of("the program saw that it is bad:", "the program saw that it is bad") +
             " and did not recover";
    case HarmKind::kLoss:
      return of("the loss", "the loss") + " is not finite";
    case HarmKind::kCollapsed:
      return of("an Inf was divided away and is lost: all zero is",
                "an Inf was divided away: a whole result became 0");
    case HarmKind::kKept:
      return of("the program still holds it at its end:", "the program still holds it at its end");
    case HarmKind::kHost:
      return of("the program read it:", "the program read it");
  }
  return "harm";
}

std::vector<std::string> journey(const Finding& finding, bool verbose, std::size_t columns,
                                 const Paint& paint) {
  const std::vector<Stop> stops = stops_of(finding);
  const Widths widths{
      widest(stops, [](const Stop& stop) { return std::string_view(stop.role_word); }),
      widest(stops, [](const Stop& stop) { return std::string_view(stop.place); }), columns};
  const bool shorten = !verbose && stops.size() > kMostStops;
  const std::size_t head = kMostStops / 2;
  const std::size_t tail = stops.size() - (kMostStops - head);

  std::vector<std::string> lines;
  for (std::size_t i = 0; i < stops.size(); ++i) {
    if (shorten && i == head)
      lines.push_back(paint.faint(fmt::format("... {} more steps (-v shows them)", tail - head)));
    if (!shorten || i < head || i >= tail) add_lines(stops[i], widths, paint, lines);
  }
  if (finding.chain_truncated) lines.push_back(paint.faint("(a part of the way was not kept)"));
  return lines;
}

}  // namespace nanscope::report
