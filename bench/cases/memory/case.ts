import type { SoakCase } from "../case.ts";
import { chatJson } from "../chat-call.ts";

export default {
  kind: "soak",
  connections: 64,
  calls: 200_000,
  sampleEvery: 10_000,
  call: chatJson,
  target: "gatehouse",
} satisfies SoakCase;
