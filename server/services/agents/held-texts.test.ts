import { expect, test } from "bun:test";
import type { Call } from "../../road/call.ts";
import type { Gates } from "../../road/gates.ts";
import type { AgentEvent } from "../../wire/a2a/shapes.ts";
import { HeldTexts } from "./held-texts.ts";

const piece = (text: string, append: boolean): AgentEvent => ({
  kind: "artifactUpdate",
  value: { taskId: "t", contextId: "c", artifact: { artifactId: "a", parts: [{ text }] }, append },
});
const DONE: AgentEvent = { kind: "statusUpdate", value: { taskId: "t", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } } };

test("held text is released even when no guardrail applies any more", async () => {
  for (const lastInspected of [0, 1, 2]) {
    let events = 0;
    const gates = {
      inspects: () => events <= lastInspected,
      judgesWhole: () => false,
      inspect: async () => null,
      inspectPiece: async () => null,
    } as unknown as Gates;
    const held = new HeldTexts({ row: {} } as Call, gates);
    let text = "";
    for (const event of [piece("one ", false), piece("two ", true), piece("three", true), DONE]) {
      const passed = await held.take(event);
      if ("code" in passed) throw new Error(passed.message);
      for (const { value } of passed) text += ((value.artifact as { parts: { text: string }[] } | undefined)?.parts ?? [])[0]?.text ?? "";
      events++;
    }
    expect(text).toBe("one two three");
  }
});
