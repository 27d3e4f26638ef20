#include "checkpoint/survey.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <unordered_map>
#include <utility>

#include "checkpoint/gguf_blocks.h"
#include "checkpoint/piece.h"
#include "checkpoint/worker_threads.h"

namespace nanscope::checkpoint {
namespace {

constexpr std::uint64_t kPieceBytes = 8 << 20;
// Views of one storage may overlap; who asks for it more often than this wants to keep us busy.
constexpr std::uint64_t kMostReadings = 64;
constexpr std::uint64_t kAlwaysAllowed = 1 << 20;

std::uint64_t bytes_of(const StoredTensor& tensor, const ViewOrder& order) {
  if (tensor.type.block != nullptr)
    return static_cast<std::uint64_t>(tensor.numel()) / tensor.type.block->elements *
           tensor.type.block->bytes;
  return static_cast<std::uint64_t>(order.count()) * tensor.type.width;
}

// Two tensors with the same are one: tied weights.
std::string identity_of(const StoredTensor& tensor) {
  std::string key(tensor.type.name);
  const auto add = [&key](auto number) {
    key.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  add(reinterpret_cast<std::uintptr_t>(tensor.storage.get()));
  add(tensor.offset);
  add(tensor.type.big_endian);
  for (const std::int64_t size : tensor.sizes) add(size);
  for (const std::int64_t stride : tensor.strides) add(stride);
  return key;
}

class Surveyor {
 public:
  Surveyor(std::span<const StoredTensor* const> tensors, const SurveyOptions& options)
      : tensors_(tensors), options_(options), same_as_(tensors.size()), orders_(tensors.size()) {
    result_.facts.resize(tensors.size());
  }

  Survey run() {
    for (std::size_t i = 0; i < tensors_.size(); ++i) plan(i);
    found_.resize(pieces_.size());
    look();
    for (std::size_t i = 0; i < pieces_.size(); ++i) collect(pieces_[i], found_[i]);
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      if (same_as_[i] != i) result_.facts[i] = result_.facts[same_as_[i]];
    result_.bytes = all_bytes_;
    return std::move(result_);
  }

 private:
  void plan(std::size_t i) {
    const StoredTensor& tensor = *tensors_[i];
    SurveyedTensor& facts = result_.facts[i];
    same_as_[i] = i;
    facts.census.elements = 0;
    if (!tensor.type.can_be_bad()) return;
    const auto [known, is_new] = by_identity_.emplace(identity_of(tensor), i);
    if (!is_new) {
      same_as_[i] = known->second;
      return;
    }
    ViewOrder& order = orders_[i] = order_of(tensor);
    if (order.empty) return;
    if (order.overlaps && tensor.type.block == nullptr) {
      facts.left_out = "its elements overlap each other";
      return;
    }
    const std::uint64_t bytes = bytes_of(tensor, order);
    std::uint64_t& readings = readings_[tensor.storage.get()];
    readings += tensor.storage->seekable() ? bytes : tensor.storage->size();
    if (readings / kMostReadings > tensor.storage->size() + kAlwaysAllowed) {
      facts.left_out = "its storage is shared by too many tensors";
      return;
    }
    all_bytes_ += bytes;
    cut(i, tensor, order, bytes);
  }

  // Into pieces that keep all threads busy. What cannot be entered in the middle stays whole.
  void cut(std::size_t i, const StoredTensor& tensor, const ViewOrder& order, std::uint64_t bytes) {
    const bool packed = tensor.type.block != nullptr;
    const std::uint64_t unit = packed ? tensor.type.block->bytes : tensor.type.width;
    const auto units = static_cast<std::int64_t>(bytes / unit);
    const bool whole = !tensor.storage->seekable() || (!packed && !order.dense);
    const std::int64_t most = whole ? units : static_cast<std::int64_t>(kPieceBytes / unit);
    for (std::int64_t begin = 0; begin < units; begin += most)
      pieces_.push_back({i, begin, std::min(most, units - begin)});
  }

  void work() {
    PieceReader reader;
    for (;;) {
      const std::size_t next = next_.fetch_add(1);
      if (next >= pieces_.size()) return;
      const Piece& piece = pieces_[next];
      const StoredTensor& tensor = *tensors_[piece.tensor];
      found_[next] = reader.look_at(tensor, orders_[piece.tensor], piece);
      const std::uint64_t unit =
          tensor.type.block != nullptr ? tensor.type.block->bytes : tensor.type.width;
      done_bytes_ += static_cast<std::uint64_t>(piece.count) * unit;
    }
  }

  void look() {
    const unsigned wanted = options_.threads != 0 ? options_.threads : usual_threads();
    const auto threads = static_cast<unsigned>(std::min<std::size_t>(wanted, pieces_.size()));
    std::function<void()> tell;
    if (options_.progress) tell = [this] { options_.progress(done_bytes_, all_bytes_); };
    run_in_threads(
        threads, [this] { work(); }, tell);
  }

  void collect(const Piece& piece, const PieceFacts& found) {
    SurveyedTensor& facts = result_.facts[piece.tensor];
    const StoredTensor& tensor = *tensors_[piece.tensor];
    facts.census.add(found.census);
    facts.has_extremes = facts.census.has_finite();
    if (found.error && !facts.error) facts.error = found.error;
    if (!found.bad_at || !facts.bad_index.empty()) return;
    const ViewOrder& order = orders_[piece.tensor];
    facts.bad_index = order.index_at(*found.bad_at, tensor.sizes.size());
  }

  std::span<const StoredTensor* const> tensors_;
  const SurveyOptions& options_;
  std::vector<std::size_t> same_as_;
  std::vector<ViewOrder> orders_;
  std::unordered_map<std::string, std::size_t> by_identity_;
  std::unordered_map<const Bytes*, std::uint64_t> readings_;
  std::vector<Piece> pieces_;
  std::vector<PieceFacts> found_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::uint64_t> done_bytes_ = 0;
  std::uint64_t all_bytes_ = 0;
  Survey result_;
};

}  // namespace

Survey survey(std::span<const StoredTensor* const> tensors, const SurveyOptions& options) {
  return Surveyor(tensors, options).run();
}

}  // namespace nanscope::checkpoint
