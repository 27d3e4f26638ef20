#include "adapters/torch/ranks/receipts.h"

#include <algorithm>
#include <mutex>

#include "adapters/torch/interpose/tensors.h"

namespace nanscope::torch_adapter {

std::int64_t Receipts::next_number(const std::string& group,
                                   const std::optional<Message>& message) {
  const std::lock_guard guard(lock_);
  return numbers_[{group, message}]++;
}

void Receipts::backward_begins(bool nested) {
  const std::lock_guard guard(lock_);
  is_plain_ = !nested;
  ordinals_.clear();
}

std::int64_t Receipts::ordinal_in_backward(const std::string& group) {
  const std::lock_guard guard(lock_);
  return is_plain_ ? ordinals_[group]++ : -1;
}

void Receipts::received_from_any(const std::string& group, int to, std::int64_t tag) {
  const std::lock_guard guard(lock_);
  mixed_.emplace(group, to, tag);
}

bool Receipts::is_mixed(const std::string& group, int to, std::int64_t tag) {
  const std::lock_guard guard(lock_);
  return mixed_.contains({group, to, tag});
}

bool Receipts::is_first() {
  const std::lock_guard guard(lock_);
  return last_ == 0;
}

void Receipts::note(Receipt receipt, const std::vector<at::Tensor>& written) {
  const std::lock_guard guard(lock_);
  receipt.number = ++last_;
  const auto shared = std::make_shared<Receipt>(std::move(receipt));
  if (written_.size() >= sweep_at_) {
    std::erase_if(written_, [](const auto& entry) { return entry.second.storage.expired(); });
    sweep_at_ = std::max(kFirstSweep, 2 * written_.size());
  }
  last_of_thread_[std::this_thread::get_id()] = shared;
  for (const at::Tensor& tensor : written) {
    const StorageId storage = storage_id(*tensor.unsafeGetTensorImpl());
    if (storage.value == 0) continue;
    written_.insert_or_assign(storage, Written{tensor.storage().getWeakStorageImpl(), shared});
  }
}

void Receipts::note_more(const c10::TensorImpl& tensor) {
  const StorageId storage = storage_id(tensor);
  const std::lock_guard guard(lock_);
  const auto last = last_of_thread_.find(std::this_thread::get_id());
  if (storage.value == 0 || last == last_of_thread_.end()) return;
  const c10::Storage& held = tensor.unsafe_storage();
  written_.insert_or_assign(storage, Written{held.getWeakStorageImpl(), last->second});
}

bool Receipts::carry(const at::Tensor& from, const at::Tensor& to) {
  const StorageId source = storage_id(*from.unsafeGetTensorImpl());
  const StorageId target = storage_id(*to.unsafeGetTensorImpl());
  const std::lock_guard guard(lock_);
  const auto found = written_.find(source);
  if (target.value == 0 || source == target || found == written_.end()) return false;
  if (found->second.storage.expired()) return false;
  const std::shared_ptr<Receipt> receipt = found->second.receipt;
  written_.insert_or_assign(target, Written{to.storage().getWeakStorageImpl(), receipt});
  return true;
}

std::optional<Receipt> Receipts::of_storage(StorageId storage) {
  const std::lock_guard guard(lock_);
  const auto found = written_.find(storage);
  if (found == written_.end() || found->second.storage.expired()) return std::nullopt;
  const std::shared_ptr<Receipt>& receipt = found->second.receipt;
  if (std::find(kept_.begin(), kept_.end(), receipt) == kept_.end()) kept_.push_back(receipt);
  if (kept_.size() > kMostKept) kept_.pop_front();
  return *receipt;
}

std::optional<Receipt> Receipts::of_number(std::uint64_t number) {
  const std::lock_guard guard(lock_);
  for (const auto& receipt : kept_)
    if (receipt->number == number) return *receipt;
  return std::nullopt;
}

void Receipts::answered(const Receipt& receipt) {
  const std::lock_guard guard(lock_);
  for (const auto& kept : kept_)
    if (kept->number == receipt.number) *kept = receipt;
}

void Receipts::gave(EventId origin, const Collective& call) {
  const std::lock_guard guard(lock_);
  given_.emplace_back(origin, call);
  if (given_.size() > kMostKept) given_.pop_front();
}

std::vector<Collective> Receipts::given_of(EventId origin) {
  const std::lock_guard guard(lock_);
  std::vector<Collective> calls;
  for (const auto& [id, call] : given_)
    if (id == origin && calls.size() < Finding::kMostGiven) calls.push_back(call);
  return calls;
}

}  // namespace nanscope::torch_adapter
