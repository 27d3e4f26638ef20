// compiled_only: a compiled region gives it, and the same region run eagerly, on the same inputs,
// does not. What the operation did there is only how it showed.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "diagnose/causes.h"
#include "diagnose/family.h"
#include "diagnose/phrase.h"

namespace nanscope::diagnosis {
namespace {

constexpr const char* kCompiledOnly = "compiled_only";

std::string lines_of(const OnlyCompiled& only) {
  std::vector<std::string> lines;
  for (const Site& site : only.lines)
    if (!site.file.empty()) lines.push_back(fmt::format("{}:{}", site.file, site.line));
  return fmt::format("{}", fmt::join(lines, ", "));
}

std::string made_by(const OnlyCompiled& only) {
  const std::string lines = lines_of(only);
  if (only.kernel.empty())
    return lines.empty() ? "" : fmt::format("the region is compiled from {}", lines);
  return fmt::format("the fused kernel `{}` is the first that wrote it{}", only.kernel,
                     lines.empty() ? "" : fmt::format("; what it stores is computed at {}", lines));
}

std::string difference_of(const Facts& facts, const OnlyCompiled& only) {
  if (only.rounded_to.empty()) return {};
  const std::string gives = facts.origin().kind == OriginKind::kBirth
                                ? fmt::format("{} gives {}", facts.expression(), facts.value())
                                : fmt::format("the region gives {}", facts.value());
  return fmt::format(
      "a fused kernel keeps float32 from one operation to the next, where eager rounds each "
      "result to {}: computed in that way, eagerly, {}",
      only.rounded_to, gives);
}

std::string cure_of(const OnlyCompiled& only) {
  if (only.setting.empty()) return {};
  return fmt::format(
      "tried: compiled again with `torch._inductor.config.{} = {}`, the region gives no such value "
      "on these inputs",
      only.setting, only.setting_value);
}

}  // namespace

void compiled_only(const Facts& facts, Opinions& opinions) {
  const auto& only = facts.finding().only_compiled;
  if (!only) return;
  Opinion opinion{
      only->setting.empty() ? Opinion::Stand::kLikely : Opinion::Stand::kCertain,
      kCompiledOnly,
      fmt::format("only the compiled code gives {} here: run eagerly on the same inputs, it is "
                  "finite.",
                  facts.value()),
      {made_by(*only), difference_of(facts, *only), cure_of(*only)}};
  for (const CauseInfo& cause : all_causes())
    if (cause.id != kCompiledOnly) opinion.explains.emplace_back(cause.id);
  opinions.push_back(std::move(opinion));
}

}  // namespace nanscope::diagnosis
