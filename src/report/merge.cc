#include "report/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "diagnose/received.h"
#include "report/sentence.h"
#include "report/summary.h"

namespace nanscope {
namespace {

constexpr int kMostSteps = 64;  // of a walk: there are no more ranks on a way

// A finding, and the capture that it stands in; none if a rank only told of it.
struct Found {
  const Finding* finding = nullptr;
  const CaptureOfRank* in = nullptr;
  const Finding* harmed = nullptr;  // the one from which the walk began
  const CaptureOfRank* harmed_in = nullptr;
};

// Where a walk ended, and those from which one came here, in the order of their ranks.
struct FoundOrigin : Found {
  std::vector<Found> from;
};

bool is_same_origin(const Origin& a, const Origin& b) {
  // What a reduction made is there on every rank.
  if (a.collective && b.collective && a.collective->is_same_call(*b.collective)) return true;
  return a.rank == b.rank && a.op == b.op && a.site.file == b.site.file &&
         a.site.line == b.site.line;
}

class Walk {
 public:
  explicit Walk(const std::vector<CaptureOfRank>& captures) : captures_(captures) {}

  [[nodiscard]] std::vector<FoundOrigin> origins() {
    for (const CaptureOfRank& one : captures_)
      for (const Finding& finding : one.capture.findings)
        if (finding.level == Level::kError) follow({&finding, &one, &finding, &one}, 0);
    std::stable_sort(found_.begin(), found_.end(), [](const FoundOrigin& a, const FoundOrigin& b) {
      return place_of(a) < place_of(b);
    });
    return found_;
  }

 private:
  // What nobody could follow further comes last.
  static std::tuple<bool, std::int64_t, int> place_of(const Found& found) {
    const Origin& origin = found.finding->origin;
    return {origin.kind == OriginKind::kReceived, origin.step, origin.rank.value_or(1 << 30)};
  }

  void follow(const Found& from, int steps) {
    const Finding& finding = *from.finding;
    if (finding.origin.kind != OriginKind::kReceived || steps == kMostSteps) return add(from);
    bool has_story = false;
    for (const Finding& other : finding.elsewhere) {
      if (other.origin.kind == OriginKind::kReceived) continue;
      add(own_capture_of({&other, nullptr, from.harmed, from.harmed_in}));
      has_story = true;
    }
    if (has_story) return;
    const std::vector<Found> givers = givers_of(from);
    for (const Found& giver : givers) follow(giver, steps + 1);
    if (givers.empty()) add(from);
  }

  // The same call in the captures of others.
  [[nodiscard]] std::vector<Found> givers_of(const Found& from) const {
    const Finding& received = *from.finding;
    std::vector<Found> givers;
    if (!received.origin.collective) return givers;
    const auto is_it = [&](const Collective& call) {
      return call.is_same_call(*received.origin.collective);
    };
    for (const CaptureOfRank& one : captures_)
      for (const Finding& finding : one.capture.findings)
        if (&finding != &received && finding.level == Level::kError &&
            std::any_of(finding.given.begin(), finding.given.end(), is_it))
          givers.push_back({&finding, &one, from.harmed, from.harmed_in});
    return givers;
  }

  // A rank that told of it may have a capture that tells more.
  [[nodiscard]] Found own_capture_of(const Found& heard) const {
    for (const CaptureOfRank& one : captures_)
      for (const Finding& finding : one.capture.findings)
        if (finding.level == Level::kError && is_same_origin(finding.origin, heard.finding->origin))
          return {&finding, &one, heard.harmed, heard.harmed_in};
    return heard;
  }

  void add(const Found& found) {
    const auto is_it = [&](const FoundOrigin& other) {
      return is_same_origin(other.finding->origin, found.finding->origin);
    };
    auto known = std::find_if(found_.begin(), found_.end(), is_it);
    if (known == found_.end()) known = found_.insert(found_.end(), FoundOrigin{found, {}});
    known->from.push_back(found);
  }

  const std::vector<CaptureOfRank>& captures_;
  std::vector<FoundOrigin> found_;
};

// How it went on where it was received; each rank once.
void add_receivers(const FoundOrigin& found, Finding& finding) {
  std::set<const CaptureOfRank*> listed;
  for (const Found& from : found.from) {
    const Finding& there = *from.harmed;
    if (&there == found.finding || there.origin.kind != OriginKind::kReceived ||
        !there.origin.collective || !listed.insert(from.harmed_in).second)
      continue;
    if (finding.received_by.size() == Finding::kMostReceivers) {
      ++finding.received_by_more;
      continue;
    }
    finding.received_by.push_back({.rank = from.harmed_in->capture.program.rank.value_or(-1),
                                   .collective = *there.origin.collective,
                                   .chain = there.chain,
                                   .chain_truncated = there.chain_truncated,
                                   .harm = there.harm});
  }
}

// As the merged capture tells it.
Finding finding_of(const FoundOrigin& found) {
  Finding finding = *found.finding;
  finding.level = Level::kError;
  add_receivers(found, finding);
  if (!finding.harm && found.harmed->harm) finding.harm = found.harmed->harm;
  return finding;
}

// The first of them, if it was made on that rank. What nobody watched may have been made elsewhere.
bool is_origin(std::optional<int> rank, const std::vector<FoundOrigin>& origins) {
  if (origins.empty() || !rank) return false;
  const Origin& first = origins[0].finding->origin;
  return first.rank == rank && first.kind != OriginKind::kReceived &&
         first.kind != OriginKind::kUnwatched;
}

std::string sentence_on(const Capture& capture, const std::vector<FoundOrigin>& origins) {
  const auto error =
      std::find_if(capture.findings.begin(), capture.findings.end(),
                   [](const Finding& finding) { return finding.level == Level::kError; });
  if (error == capture.findings.end()) return "found no error of its own";
  // It may have got its own value back.
  if (is_origin(capture.program.rank, origins)) return "the origin";
  std::string text = report::position(error->origin.site) + ": " + report::deed(error->origin);
  if (error->origin.collective) {
    const std::string givers = givers_text(*error->origin.collective);
    if (!givers.empty()) text += ": " + givers;
  }
  return text;
}

void add_coverage(const Coverage& more, Coverage& all) {
  all.ops_watched += more.ops_watched;
  all.bytes_scanned += more.bytes_scanned;
  all.steps = std::max(all.steps, more.steps);
  for (const NotWatched& gap : more.not_watched) {
    const auto same = std::find_if(
        all.not_watched.begin(), all.not_watched.end(),
        [&](const NotWatched& known) { return known.what == gap.what && known.why == gap.why; });
    if (same == all.not_watched.end())
      all.not_watched.push_back(gap);
    else
      same->count += gap.count;
  }
  for (const Intended& one : more.intended) {
    const auto same =
        std::find_if(all.intended.begin(), all.intended.end(), [&](const Intended& known) {
          return known.op == one.op && known.fate == one.fate &&
                 report::position(known.site) == report::position(one.site);
        });
    if (same != all.intended.end())
      same->count += one.count;
    else if (all.intended.size() < Coverage::kMostIntended)
      all.intended.push_back(one);
    else
      all.intended_more += one.count;
  }
  all.intended_more += more.intended_more;
}

}  // namespace

Capture merge(std::vector<CaptureOfRank> captures, std::vector<RankLine> also,
              const std::vector<RankRemark>& remarks) {
  const auto rank_of = [](const CaptureOfRank& one) {
    return one.capture.program.rank.value_or(1 << 30);
  };
  std::stable_sort(
      captures.begin(), captures.end(),
      [&](const CaptureOfRank& a, const CaptureOfRank& b) { return rank_of(a) < rank_of(b); });
  const std::vector<FoundOrigin> origins = Walk(captures).origins();
  const CaptureOfRank* head = &captures.front();
  if (!origins.empty() && origins[0].in != nullptr) head = origins[0].in;
  Capture merged;
  merged.program = head->capture.program;
  merged.complete = true;
  for (const FoundOrigin& origin : origins) merged.findings.push_back(finding_of(origin));
  if (!origins.empty() && origins[0].in == head) merged.proposal = head->capture.proposal;
  for (const CaptureOfRank& one : captures) {
    const Capture& capture = one.capture;
    for (const Finding& finding : capture.findings)
      if (finding.level != Level::kError && (&one == head)) merged.findings.push_back(finding);
    add_coverage(capture.coverage, merged.coverage);
    std::string sentence = sentence_on(capture, origins);
    if (!capture.complete) sentence += "; it was killed, or still runs";
    merged.ranks.push_back({capture.program.rank.value_or(-1), capture.program.host,
                            capture.program.pid, one.path, std::move(sentence)});
  }
  for (RankLine& line : also) {
    // It gave the value away, and was not harmed itself.
    if (is_origin(line.rank, origins)) line.sentence = "the origin; " + line.sentence;
    merged.ranks.push_back(std::move(line));
  }
  for (const RankRemark& remark : remarks)
    for (RankLine& line : merged.ranks)
      if (line.rank == remark.rank) line.sentence += "; " + remark.text;
  std::stable_sort(merged.ranks.begin(), merged.ranks.end(),
                   [](const RankLine& a, const RankLine& b) { return a.rank < b.rank; });
  return merged;
}

}  // namespace nanscope
