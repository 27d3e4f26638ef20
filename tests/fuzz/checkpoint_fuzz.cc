// Hostile checkpoints: whatever the bytes, every reader answers, and what it found can be
// surveyed, printed and written as JSON.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "capture/utf8.h"
#include "checkpoint/open.h"
#include "checkpoint/readers.h"
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
void look_at(Contents contents) {
  ScanResult result;
  result.opened.checkpoints.push_back({"fuzz.pt", 1, std::move(contents)});
  std::vector<const StoredTensor*> tensors;
  for (const StoredTensor& tensor : result.opened.checkpoints[0].contents.tensors)
    tensors.push_back(&tensor);
  Survey seen = survey(tensors, {.threads = 1, .progress = {}});
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const TensorFacts& facts = seen.facts[i];
    const bool looked = tensors[i]->type.can_be_bad() && !facts.left_out && !facts.error;
    if (looked) require(facts.census.elements == tensors[i]->numel());
    if (facts.is_bad() && !facts.error) require(facts.bad_index.size() == tensors[i]->sizes.size());
  }
  result.facts = std::move(seen.facts);
  check_text(scan_text(result, {.verbose = true}));
  check_text(scan_json(result));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const BytesPtr file = in_memory({reinterpret_cast<const char*>(data), size});
  nanscope::Result<Contents> contents = read_checkpoint(file);
  if (contents)
    look_at(std::move(contents.value()));
  else
    require(!contents.error().message.empty());
  (void)read_index(file);
  const nanscope::Result<std::vector<DistributedItem>> items = read_dcp_metadata(file);
  if (items)
    for (const DistributedItem& item : items.value()) require(is_plain_name(item.file));
  return 0;
}
