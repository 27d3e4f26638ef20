// Hostile pickles, without a zip around them that would keep the fuzzer out: what they call a
// tensor lies in a small storage, whose element type may be any.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "checkpoint/pickle_machine.h"
#include "checkpoint/pickled_tensors.h"
#include "checkpoint/survey.h"

namespace {

using namespace nanscope::checkpoint;

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  bool cut_off = false;
  const nanscope::Result<Pickle> pickle = read_pickle(bytes, &cut_off);
  if (!pickle) {
    require(!pickle.error().message.empty());
    return 0;
  }
  require(!cut_off && pickle.value().size_in_bytes() <= size);
  const BytesPtr storage = in_memory(std::string(bytes.substr(0, 256)));
  const FindStorage find = [&](const Pickle&, std::span<const Ref>) {
    return nanscope::Result<Storage>(Storage{.bytes = storage, .type = {}});
  };
  for (const bool big_endian : {false, true}) {
    Contents contents;
    if (!add_tensors(pickle.value(), find, big_endian, contents)) continue;
    std::vector<const StoredTensor*> tensors;
    for (const StoredTensor& tensor : contents.tensors) {
      require(!place_problem(tensor));
      tensors.push_back(&tensor);
    }
    const Survey seen = survey(tensors, {.threads = 1, .progress = {}});
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i]->type.can_be_bad() && !seen.facts[i].left_out)
        require(seen.facts[i].census.elements == tensors[i]->numel());
  }
  return 0;
}
