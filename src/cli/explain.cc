// nanscope explain: a page of the catalogue of causes, or the list of them.

#include <fmt/format.h>

#include "cli/options.h"
#include "diagnose/causes.h"

namespace nanscope::cli {
namespace {

std::string list() {
  std::string text = "The causes nanscope knows; `nanscope explain ID` prints the page of one.\n\n";
  for (const CauseInfo& cause : all_causes())
    text += fmt::format("  {:28}{}\n", cause.id, cause.summary);
  return text;
}

// The id that shares the longest beginning, for a slip of the finger.
std::string_view nearest(const std::string& word) {
  std::string_view best;
  std::size_t longest = 2;
  for (const CauseInfo& cause : all_causes()) {
    std::size_t same = 0;
    while (same < word.size() && same < cause.id.size() && word[same] == cause.id[same]) ++same;
    if (same > longest) longest = same, best = cause.id;
  }
  return best;
}

Outcome carry_out_explain(const Arguments& arguments, const Terminal&) {
  std::string id;
  Options options(kExplain, {"explain [options] [CAUSE]"}, "  nanscope explain log_of_zero");
  options.app().add_option("CAUSE", id, "an id of the catalogue; without one, all are listed");
  if (std::optional<Outcome> answer = options.parse(arguments)) return *answer;
  if (id.empty()) return {.out = list()};
  const std::string_view page = page_of(id);
  if (!page.empty()) return {.out = std::string(page)};
  const std::string_view meant = nearest(id);
  return options.bad_usage(
      fmt::format("there is no cause {}{}; `nanscope explain` lists them.", id,
                  meant.empty() ? std::string() : fmt::format(" (is {} meant?)", meant)));
}

}  // namespace

const Verb kExplain{"explain", "Prints the page of a cause: symptom, mechanism, proof, fixes.",
                    carry_out_explain};

}  // namespace nanscope::cli
