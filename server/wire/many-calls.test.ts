import { expect, test } from "bun:test";
import { cpuMs } from "../../tests/support/processes/cpu-time.ts";
import { UniqueCallIds } from "./conversation/unique-call-ids.ts";
import { converseDocumentBlock } from "./converse/media.ts";
import { RequestReport } from "./converse/request-report.ts";
import { ToolUseIds } from "./converse/tool-use-ids.ts";
import { PendingToolCalls } from "./gemini/pending-tool-calls.ts";
import { ToolIds } from "./messages/tool-ids.ts";
import { WriteReport } from "./openai/write-report.ts";
import { CandidateReader } from "./openai/chat/candidate-reader.ts";

/** As many as fit in a request or answer of a few megabytes. */
const MANY = 40_000;
const times = (work: (i: number) => void) => {
  for (let i = 0; i < MANY; i++) work(i);
};

/** These lookups must not scan linearly per call: a single 4 MB request could block the process for minutes. */
test.each<[string, () => void]>([
  [
    "tool calls with one ID, for Bedrock,",
    () => {
      const ids = new ToolUseIds();
      const given = new Set<string>();
      times(() => given.add(ids.ofCall("c")));
      expect(given.size).toBe(MANY);
      times(() => given.delete(ids.ofResult("c")));
      expect(given.size).toBe(0);
    },
  ],
  [
    "tool calls with one ID, for Anthropic,",
    () => {
      const ids = new ToolIds();
      const given = new Set<string>();
      times(() => given.add(ids.ofCall("c")));
      expect([given.size, given.has("c"), given.has("c_2")]).toEqual([MANY, true, true]);
    },
  ],
  [
    "tool calls with one ID in an answer",
    () => {
      const ids = new UniqueCallIds();
      expect([ids.of("c_2"), ids.of("c"), ids.of("c"), ids.of("c_2")]).toEqual(["c_2", "c", "c_3", "c_2_2"]);
      times(() => ids.of("c"));
    },
  ],
  [
    "documents with one name",
    () => {
      const names = new Map<string, number>();
      const report = new RequestReport();
      const name = () =>
        (
          converseDocumentBlock(
            { kind: "file", source: { base64: "AA==" }, mediaType: "application/pdf", name: "a.pdf" },
            names,
            report,
          ) as any
        ).document.name;
      expect([name(), name(), name()]).toEqual(["a", "a (2)", "a (3)"]);
      times(name);
    },
  ],
  [
    "many different unsupported files",
    () => {
      for (const report of [new RequestReport(), new WriteReport()]) {
        times((i) => report.refuse("file", `not as x/${i}`));
        expect(report.unsupported.length).toBe(20);
      }
    },
  ],
  [
    "Gemini tool results in reverse order",
    () => {
      const calls = new PendingToolCalls();
      times((i) => calls.add(`id-${i}`, `f${i}`));
      times((i) => expect(calls.answer(i % 2 === 0 ? `id-${MANY - 1 - i}` : null, `f${MANY - 1 - i}`)).toBe(`id-${MANY - 1 - i}`));
      expect(calls.answer("id-1", "f1")).toBeNull();
    },
  ],
  [
    "streamed tool calls without index",
    () => {
      const seen: unknown[] = [];
      const reader = new CandidateReader(0, "a", (event) => seen.push(event));
      times((i) => reader.read({ delta: { tool_calls: [{ id: `c${i}`, function: { name: "f", arguments: "{}" } }] } }));
      expect(seen.filter((event: any) => event.kind === "part_start").length).toBe(MANY);
    },
  ],
])("%s take linear time", (_name, work) => {
  const started = cpuMs();
  work();
  expect(cpuMs(started)).toBeLessThan(1_500);
});

test("a tool result is matched by ID, else to the earliest open call of its name", () => {
  const calls = new PendingToolCalls();
  for (const [id, name] of [
    ["1", "f"],
    ["2", "f"],
    ["2", "g"],
    ["3", "f"],
  ] as const)
    calls.add(id, name);
  expect([
    calls.answer("2", "x"),
    calls.answer(null, "f"),
    calls.answer("9", "f"),
    calls.answer("2", "f"),
    calls.answer("2", "f"),
    calls.answer(null, null),
  ]).toEqual(["2", "1", "3", "2", null, null]);
});
