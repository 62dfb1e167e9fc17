const NO_HANDOVER = "A hold of oriel belongs to the object that acquired it, and cannot be handed to another process.";
const OWN_TOKENS = "oriel chooses a new token for each attempt, so that a late request never passes for a new hold.";
const NO_THROW =
  "A loss aborts the hold's signal with LOST, and throws nothing that nobody can catch; the cases of onLockLost prove it.";
const LIBRARY_INSIDE = "It is a function inside the library.";

/** Why a case of the library has no counterpart, by its title. */
export const reasons: Readonly<Record<string, string>> = {
  "should support externally acquired mutex (deprecated interface)": NO_HANDOVER,
  "should support externally acquired mutex": NO_HANDOVER,
  "should support externally acquired semaphore (deprecated interface)": NO_HANDOVER,
  "should support externally acquired semaphore": NO_HANDOVER,
  "should set random UUID as identifier": OWN_TOKENS,
  "should add identifier suffix": OWN_TOKENS,
  "should use custom identifier if provided": OWN_TOKENS,
  "should set identifier for key": OWN_TOKENS,
  "lost lock case > should throw unhandled error if lock was lost between refreshes (another instance acquired)":
    NO_THROW,
  "lost lock case > should throw unhandled error if lock was lost between refreshes (lock expired)": NO_THROW,
  "lost lock case > should throw unhandled error if lock is lost between refreshes": NO_THROW,
  "should return function": LIBRARY_INSIDE,
  "should call evalsha or fallback to eval": LIBRARY_INSIDE,
  "should handle eval errors": LIBRARY_INSIDE,
  "should return connection name": LIBRARY_INSIDE,
  "should return unknown if connection name not configured": LIBRARY_INSIDE,
  "shell > should up redis server": "It tests how the library's own tests start servers.",
  "shell > should down and up redis servers": "It tests how the library's own tests start servers.",
};
