// Which origins a bad value has, and in what order they are blamed.
#include "origin/blame.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace nanscope {
namespace {

constexpr Kinds kNan{true, false};
constexpr Kinds kInf{false, true};

// Bad values, each made from earlier ones by an op on a line.
class Values {
 public:
  EventId birth(const std::string& op, std::uint32_t line, Kinds out) {
    return make(op, line, out, {}, OriginKind::kBirth);
  }
  EventId declared(const std::string& op, std::uint32_t line, Kinds out) {
    return make(op, line, out, {}, OriginKind::kDeclared);
  }
  EventId carried(const std::string& op, std::uint32_t line, Kinds out,
                  const std::vector<EventId>& from) {
    return make(op, line, out, from, std::nullopt);
  }
  void test(EventId value) { events_.test(value); }

  // "sqrt:1 log:2", the first to blame first.
  [[nodiscard]] std::string blamed(const std::vector<EventId>& values) const {
    std::string names;
    for (const Blamed& origin : blame(values, events_))
      names += (names.empty() ? "" : " ") + name_of(*origin.source);
    return names;
  }
  [[nodiscard]] std::string evidence(EventId value) const {
    std::string names;
    for (const auto& source : blame(std::vector{value}, events_).at(0).source->evidence)
      names += (names.empty() ? "" : " ") + name_of(*source);
    return names;
  }

 private:
  static std::string name_of(const Source& source) {
    return source.view.op->name + ":" + std::to_string(source.view.place.line);
  }
  EventId make(const std::string& op, std::uint32_t line, Kinds out,
               const std::vector<EventId>& from, std::optional<OriginKind> kind) {
    Event event;
    event.id = events_.next_id();
    event.op = &ops_.try_emplace(op, OpInfo{op, {}}).first->second;
    event.place.line = line;
    event.kinds = out;
    event.origin_kind = kind;
    event.parents = from;
    const auto self = [&event] {
      if (event.source == nullptr) {
        event.source = std::make_shared<Source>();
        event.source->view = event.view();
      }
      return event.source;
    };
    std::vector<BadRead> reads;
    for (const EventId id : from) reads.push_back({{id}, {}});
    const Kinds made = kind == OriginKind::kDeclared ? out : Kinds{};
    carry_origins(event, explain(OpRecord(), reads, out, events_), made, events_, self);
    return events_.add(std::move(event)).id;
  }

  Events events_;
  std::map<std::string, OpInfo> ops_;
};

TEST(Blame, TheEarliestBirthFirstAndTheOthersByTime) {
  Values values;
  const EventId a = values.birth("sqrt", 1, kNan);
  const EventId b = values.birth("log", 2, kNan);
  const EventId c = values.birth("div", 3, kNan);
  EXPECT_EQ(values.blamed({values.carried("add", 4, kNan, {b, a, c})}), "sqrt:1 log:2 div:3");
  EXPECT_EQ(values.blamed({c, b}), "log:2 div:3");
  EXPECT_EQ(values.blamed({}), "");
}

TEST(Blame, AnOriginThatCameTwoWaysIsNamedOnce) {
  Values values;
  const EventId a = values.birth("log", 1, kNan);
  const EventId b = values.carried("mul", 2, kNan, {a});
  const EventId c = values.carried("add", 3, kNan, {a, b});
  EXPECT_EQ(values.blamed({c}), "log:1");
  EXPECT_EQ(values.blamed({c, b, a}), "log:1");
}

TEST(Blame, ANanFollowsNanAndOnlyElseInf) {
  Values values;
  const EventId inf = values.birth("exp", 1, kInf);
  const EventId nan = values.birth("sqrt", 2, kNan);
  EXPECT_EQ(values.blamed({values.carried("add", 3, kNan, {inf, nan})}), "sqrt:2");
  EXPECT_EQ(values.blamed({values.carried("sub", 4, kNan, {inf})}), "exp:1");
}

TEST(Blame, EachKindOfAValueHasItsOrigins) {
  Values values;
  const EventId inf = values.birth("exp", 1, kInf);
  const EventId nan = values.birth("sqrt", 2, kNan);
  EXPECT_EQ(values.blamed({values.carried("cat", 3, {true, true}, {nan, inf})}), "exp:1 sqrt:2");
}

TEST(Blame, NanOfADeclaredInfIsTheDoingOfTheOpThatMadeIt) {
  Values values;
  const EventId mask = values.declared("full", 1, kInf);
  const EventId scores = values.carried("add", 2, kInf, {mask});
  const EventId weights = values.carried("softmax", 3, kNan, {scores});
  EXPECT_EQ(values.blamed({weights}), "softmax:3");
  EXPECT_EQ(values.evidence(weights), "full:1");
}

TEST(Blame, BirthsBeforeMisuseAndGivenInf) {
  Values values;
  const EventId mask = values.declared("full", 1, kInf);
  const EventId missing = values.declared("tensor", 2, kNan);
  values.test(missing);  // the program knows of it: who carries it on is to blame
  const EventId carried = values.carried("mean", 3, kNan, {missing});
  const EventId born = values.birth("log", 4, kNan);
  const EventId late = values.birth("exp", 5, kInf);
  EXPECT_EQ(values.blamed({mask, carried, late, born}), "log:4 exp:5 full:1 mean:3");
  EXPECT_EQ(values.blamed({values.carried("add", 6, kNan, {carried, born})}), "log:4 mean:3");
}

// The test may come after everything was computed from it.
TEST(Blame, AnUntestedGivenNanIsBlamedItself) {
  Values values;
  const EventId missing = values.declared("tensor", 1, kNan);
  const EventId carried = values.carried("mean", 2, kNan, {missing});
  EXPECT_EQ(values.blamed({carried}), "tensor:1");
  values.test(missing);
  EXPECT_EQ(values.blamed({carried}), "mean:2");
}

TEST(Blame, OfManyTheEarliestBirthsStay) {
  Values values;
  std::vector<EventId> parts{values.declared("full", 200, kInf)};
  for (std::uint32_t line = 1; line <= 20; ++line)
    parts.insert(parts.begin(), values.birth("exp", line, kInf));
  EXPECT_EQ(values.blamed({values.carried("cat", 100, kInf, parts)}),
            "exp:1 exp:2 exp:3 exp:4 exp:5 exp:6 exp:7 exp:8");
}

}  // namespace
}  // namespace nanscope
