// Programs that differ in how they record launches and submit them. Each prints its picture.
#pragma once

namespace scenario {

/// Twelve launches of growing size in one command buffer.
void many_launches();
/// Six submissions of two launches each.
void frames();
/// Eighty command buffers, each for one submission, all recorded before the first of them is submitted.
void recorded_ahead();
/// One recording: submitted three times, then twice in one call.
void resubmitted();
/// One recording, twice in one batch.
void twice_in_a_batch();
/// By vkQueueSubmit2.
void submit2();
/// Two secondary command buffers.
void secondary();

/// One recording, submitted twice before the device may begin with either.
void twice_pending();
/// A launch that waits for a semaphore which the host signals after the submission.
void wait_before_signal();
/// Work that was submitted before the first launch holds the queue, until the host lets it go after the launch.
void queue_held();

/// Four threads record and submit on one queue.
void threads();
/// Two devices of one instance, each used by a thread.
void devices();

}  // namespace scenario
