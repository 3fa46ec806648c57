import type { RequestView } from "./view.ts";

/** Tool results that came since the model last spoke: the calls it made then. */
export function newToolResults(view: RequestView): number {
  const slots = view.texts();
  let count = 0;
  for (let i = slots.length - 1; i >= 0 && slots[i]?.role === "tool"; i--) count++;
  return count;
}
