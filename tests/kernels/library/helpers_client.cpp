// One job offered at a place twice: to the helper that waits there, which takes it, and then to a thread that is called there.
// Taking both offers back gives the second one back alone. Ends with 0 where it does, with 1 where it does not, and with 2
// where no helper was met waiting.
#include <thread>

#include "helpers.h"

namespace {

std::atomic<bool> ran{false}, begun{false}, go_on{false};

void run(const void*, int64_t) { ran = true; }
void block(const void*, int64_t) {
  begun = true;
  while (!go_on) proa::pause_briefly();
}

void wait_for(const std::atomic<bool>& flag) {
  while (!flag) proa::pause_briefly();
}

// -1: the helper was gone already, or not there yet.
int attempt(proa::Helpers& helpers) {
  ran = begun = go_on = false;
  auto* first = new proa::Job(1, nullptr, run);
  first->hold();
  const auto called = helpers.offer(first);
  std::thread helper([&] { helpers.arrive(called.place); });
  wait_for(ran);
  first->release();
  auto* second = new proa::Job(1, nullptr, block);
  second->hold();
  auto to_who_waits = helpers.offer(second);
  for (int tries = 0; to_who_waits.must_call && tries < 100; tries++) {  // it is on its way to the place
    const bool back = helpers.take_back(to_who_waits, second);
    helpers.arrive(to_who_waits.place);
    if (!back) return 1;
    to_who_waits = helpers.offer(second);
  }
  if (to_who_waits.must_call) {
    helper.join();
    helpers.take_back(to_who_waits, second);
    helpers.arrive(to_who_waits.place);
    return -1;
  }
  wait_for(begun);  // the helper has it; its place is free
  second->hold();
  const auto to_who_is_called = helpers.offer(second);
  const bool same_place = to_who_is_called.place == to_who_waits.place && to_who_is_called.must_call;
  const bool wrong = helpers.take_back(to_who_waits, second), right = helpers.take_back(to_who_is_called, second);
  go_on = true;
  helper.join();
  if (!same_place) return -1;
  if (wrong || !right) return 1;
  helpers.arrive(to_who_is_called.place);  // called for nothing: it looks for work, and leaves
  return 0;
}

}  // namespace

int main() {
  static proa::Helpers helpers;
  for (int i = 0; i < 1000; i++) {
    const int found = attempt(helpers);
    if (found >= 0) return found;
  }
  return 2;
}
