// Rules at backward() and autograd.grad(): what began bad, and what came out bad.
#include <algorithm>

#include "origin/judge_state.h"

namespace nanscope {
namespace {

void tidy(std::vector<EventId>& ids, std::size_t most) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  if (ids.size() > most) ids.resize(most);
}

bool same(const std::vector<Delivered>& a, const std::vector<Delivered>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const Delivered& x, const Delivered& y) { return x.leaf == y.leaf && x.grad == y.grad; });
}

}  // namespace

RootId JudgeState::backward_begins(std::span<const TensorState> tensors, const Place& place,
                                   std::span<const std::uint32_t> lines, bool scaled) {
  ++backwards;
  host_reads.clear();  // reads alone are no harm in a program that trains
  judge_replaced(place);
  poll();
  poll_roots();
  Root root;
  root.id = next_root++;
  root.place = place;
  root.first_event = events.next_id();
  root.scaled = scaled || in_backward_of_scaled_loss();
  for (const TensorState& tensor : tensors) {
    if (tensor.kinds.any()) append(root.events, blame_tensor(tensor, place));
    append(root.swallowed, ledger.marks_of(tensor));
  }
  // A backward inside another (a reentrant checkpoint) starts from values computed again: what
  // was bad in them was bad in the outer loss first.
  if (!root.events.empty()) {
    for (const Root& outer : roots) {
      if (outer.open) append(root.events, outer.events);
    }
  }
  tidy(root.events, kMostRootEvents);
  tidy(root.swallowed, Events::kMostParents);
  if (!root.swallowed.empty()) {  // they have arrived: no need to follow them further
    infs_at_roots.insert(root.swallowed.begin(), root.swallowed.end());
    ledger.unmark([&](EventId id) { return infs_at_roots.contains(id); });
  }
  if (root.events.empty()) {
    for (const std::uint32_t line : lines) {
      if (line != 0 && lines_to_healthy_roots.size() < kMostLines)
        lines_to_healthy_roots.insert(line);
    }
  }
  roots.push_back(std::move(root));
  make_room_for_roots();
  any_root_pending |= roots.back().pending();
  return roots.back().id;
}

// One call more than the limit may be running. What a backward() that raised left behind goes
// first, then the oldest.
void JudgeState::make_room_for_roots() {
  if (roots.size() <= kMostRoots + 1) return;
  const auto left_behind = std::find_if(roots.begin(), roots.end(), [](const Root& root) {
    return !root.pending() && root.swallowed.empty();
  });
  const auto victim = left_behind >= roots.end() - 1 ? roots.begin() : left_behind;
  records_dropped += victim->pending() ? 1 : 0;
  roots.erase(victim);
}

Root* JudgeState::find_root(RootId id) {
  const auto found =
      std::find_if(roots.rbegin(), roots.rend(), [&](const Root& root) { return root.id == id; });
  return found == roots.rend() ? nullptr : &*found;
}

void JudgeState::backward_ended(RootId id, std::span<const LeafGrad> leaves) {
  Root* root = find_root(id);
  if (root == nullptr) return;
  root->open = false;
  ++backwards_ended;
  poll();
  std::vector<Delivered> delivered;
  bool bad = false;
  for (const LeafGrad& leaf : leaves) {
    if (leaf.grad.value == 0) continue;
    if (!root->events.empty()) delivered.push_back({leaf.leaf, leaf.grad});
    if (!leaf.state.kinds.any()) continue;
    bad = true;
    const std::vector<EventId> ids = blame_tensor(leaf.state, root->place);
    if (!root->events.empty() && root->bad.size() < kMostRootEvents) append(root->bad, ids);
    if (root->scaled && leaf.in_optimizer) scaler_will_check(ids);
    const bool noted = std::any_of(pending_gradients.begin(), pending_gradients.end(),
                                   [&](const PendingGradient& gradient) {
                                     return !gradient.leaf_died && gradient.grad == leaf.grad;
                                   });
    if (noted || pending_gradients.size() >= kMostPendingGradients) continue;
    pending_gradients.push_back(
        {leaf.leaf, leaf.grad, leaf.version, ids, leaf.in_optimizer, root->place, false});
  }
  tidy(root->bad, kMostRootEvents);
  if (!delivered.empty()) {
    // Roots that accumulate into the same gradients share one list.
    for (const Root& other : roots) {
      if (other.pending() && other.grads && same(*other.grads, delivered))
        root->grads = other.grads;
    }
    if (!root->grads) root->grads = std::make_shared<std::vector<Delivered>>(std::move(delivered));
  }
  if (!bad && root->events.empty()) delivered_well(*root);
  forget_done_roots();
}

void JudgeState::grad_ended(RootId id, std::span<const TensorState> results) {
  Root* root = find_root(id);
  if (root == nullptr) return;
  root->open = false;
  ++backwards_ended;
  root->of_grad = true;
  poll();
  bool bad = false;
  for (const TensorState& result : results) {
    if (!result.kinds.any()) continue;
    bad = true;
    const std::vector<EventId> ids = blame_tensor(result, root->place);
    if (grad_events.size() < kMostGradEvents) append(grad_events, ids);
    if (!root->events.empty() && root->bad.size() < kMostRootEvents) append(root->bad, ids);
    if (pending_gradients.size() >= kMostPendingGradients) continue;
    pending_gradients.push_back({TensorId{}, TensorId{}, 0, ids, false, root->place, false});
  }
  tidy(root->bad, kMostRootEvents);
  if (!bad && root->events.empty()) delivered_well(*root);
  forget_done_roots();
}

// Nobody says whose fault it was: the last bad value it made, and its loss.
void JudgeState::backward_raised(RootId id, bool about_nan, const std::string& text) {
  Root* root = find_root(id);
  if (root == nullptr) return;
  root->open = false;
  HarmDone harm{HarmKind::kException, root->events, root->place, {}, text};
  for (EventId at = events.next_id(); at-- > root->first_event;) {
    const Event* event = events.find(at);
    if (event == nullptr || event->place.phase != Phase::kBackward) continue;
    harm.events.push_back(at);
    break;
  }
  if (about_nan && !harm.events.empty()) verdicts.harm(harm);
  forget_done_roots();
}

// Began and ended finite: settles what was pending from the same line; until an optimizer has
// stepped, it is a healthy step too.
void JudgeState::delivered_well(const Root& root) {
  settle_dead(root.place.line);
  if (!optimizer_stepped) healthy_step();
}

}  // namespace nanscope
