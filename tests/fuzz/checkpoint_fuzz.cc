// Hostile checkpoints: whatever the bytes, every reader answers, and what it found can be
// surveyed, printed, written as JSON, and set beside another.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "capture/utf8.h"
#include "checkpoint/compare_text.h"
#include "checkpoint/open.h"
#include "checkpoint/readers.h"
#include "checkpoint/scan_json.h"
#include "checkpoint/scan_result.h"
#include "checkpoint/scan_text.h"
#include "checkpoint/survey.h"

namespace {

using namespace nanscope::checkpoint;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_text(const std::string& text) {
  require(nanscope::valid_utf8(text) == text);
  require(text.find('\x1b') == std::string::npos);
}

// What scan_checkpoints does, without the files.
ScanResult look_at(Contents contents) {
  ScanResult result;
  result.opened.checkpoints.push_back({"fuzz.pt", 1, std::move(contents)});
  std::vector<const StoredTensor*> tensors;
  for (const StoredTensor& tensor : result.opened.checkpoints[0].contents.tensors)
    tensors.push_back(&tensor);
  Survey seen = survey(tensors, {.threads = 1, .progress = {}});
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const SurveyedTensor& facts = seen.facts[i];
    const bool looked = tensors[i]->type.can_be_bad() && !facts.left_out && !facts.error;
    if (looked) require(facts.census.elements == tensors[i]->numel());
    if (facts.is_bad() && !facts.error) require(facts.bad_index.size() == tensors[i]->sizes.size());
  }
  result.facts = std::move(seen.facts);
  check_text(scan_text(result, {.verbose = true}));
  check_text(scan_json(result));
  return result;
}

// Beside itself nothing has moved; beside what was changed a little, anything may have.
void compare_with(const ScanResult& now, const ScanResult& then, bool is_the_same) {
  const Comparison comparison = compare(now, then);
  if (is_the_same)
    for (const Change& change : comparison.changes)
      require(change.moved == 0 && change.largest_step == 0);
  check_text(compare_text(comparison, "then.pt", {.verbose = true}));
  check_text(compare_json(now, comparison, "then.pt"));
}

std::string changed_a_little(std::string bytes) {
  if (!bytes.empty()) bytes[bytes.size() / 2] = static_cast<char>(~bytes[bytes.size() / 2]);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const BytesPtr file = in_memory(bytes);
  nanscope::Result<Contents> contents = read_checkpoint(file);
  if (contents) {
    const ScanResult now = look_at(std::move(contents.value()));
    compare_with(now, now, true);
    nanscope::Result<Contents> others = read_checkpoint(in_memory(changed_a_little(bytes)));
    if (others) compare_with(now, look_at(std::move(others.value())), false);
  } else {
    require(!contents.error().message.empty());
  }
  (void)read_index(file);
  const nanscope::Result<std::vector<DistributedItem>> items = read_dcp_metadata(file);
  if (items)
    for (const DistributedItem& item : items.value()) require(is_plain_name(item.file));
  return 0;
}
