import { describe, expect, test } from "bun:test";
import { ANSWER_SURFACES } from "../../../tests/support/formats/answer-streams.ts";
import { cpuMs, fixedWorkMs } from "../../../tests/support/processes/cpu-time.ts";
import { geminiCodec } from "../../wire/gemini/gemini-codec.ts";
import { messagesCodec } from "../../wire/messages/messages-codec.ts";
import { chatCodec } from "../../wire/openai/chat/codec.ts";
import { responsesCodec } from "../../wire/responses/responses-codec.ts";
import type { Conversation } from "../request/conversation.ts";
import { textOfStreamedAnswer, textOfWholeAnswer } from "./answer-text.ts";

const CODECS = { chat: chatCodec, responses: responsesCodec, messages: messagesCodec, gemini: geminiCodec };
type Format = keyof typeof CODECS;
const conversation = (format: Format) => ({ caller: CODECS[format], writer: null }) as unknown as Conversation;
const bytes = (body: object) => new TextEncoder().encode(JSON.stringify(body));
const event = (body: object) => new TextEncoder().encode(`data: ${JSON.stringify(body)}\n\n`);

describe("the text of an answer given to a semantic policy contains", () => {
  test.each([
    [
      "chat",
      {
        choices: [
          {
            index: 0,
            message: { role: "assistant", content: null, audio: { id: "a", data: "aGk=", transcript: "spoken words" } },
            finish_reason: "stop",
          },
        ],
      },
      "spoken words",
    ],
    [
      "responses",
      {
        object: "response",
        status: "completed",
        output: [{ type: "mcp_call", id: "m", name: "find", server_label: "s", arguments: '{"q":1}', output: "printed words" }],
      },
      'find {"q":1}\n\nprinted words',
    ],
    [
      "messages",
      {
        type: "message",
        content: [
          { type: "server_tool_use", id: "s", name: "bash_code_execution", input: { command: "ls" } },
          {
            type: "bash_code_execution_tool_result",
            tool_use_id: "s",
            content: { type: "bash_code_execution_result", stdout: "printed words", stderr: "", return_code: 0, content: [] },
          },
        ],
        stop_reason: "end_turn",
      },
      'bash_code_execution {"command":"ls"}\n\nprinted words',
    ],
    [
      "gemini",
      {
        candidates: [
          {
            index: 0,
            content: { role: "model", parts: [{ executableCode: { code: "ls()" } }, { codeExecutionResult: { output: "printed words" } }] },
            finishReason: "STOP",
          },
        ],
      },
      "ls()\n\nprinted words",
    ],
  ] as const)("transcripts, tool calls and their output (%s)", (format, body, words) => {
    expect(textOfWholeAnswer(conversation(format), bytes(body))).toBe(words);
  });

  test("a transcript streamed in pieces", () => {
    const delta = (transcript: string) =>
      event({ id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta: { audio: { transcript } }, finish_reason: null }] });
    expect(textOfStreamedAnswer(conversation("chat"), [delta("spo"), delta("ken words")])).toBe("spoken words");
  });

  test.each(ANSWER_SURFACES.filter(({ name }) => name in CODECS).map((surface) => [surface.name, surface] as const))(
    "each text and tool call once: %s",
    (name, surface) => {
      const call = { name: "run_sql", pieces: ['{"query":', '"SELECT 1"}'] };
      const words = 'Look: here.\n\nrun_sql {"query":"SELECT 1"}';
      expect(textOfStreamedAnswer(conversation(name as Format), surface.frames(["Look: ", "here."], call))).toBe(words);
      expect(textOfWholeAnswer(conversation(name as Format), bytes(surface.whole("Look: here.", call) as object))).toBe(words);
    },
  );

  test("each text once when a tool call is between its parts", () => {
    const parts = [{ text: "Look " }, { functionCall: { name: "find", args: { q: 1 } } }, { text: "here." }];
    const answer = { candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }] };
    expect(textOfWholeAnswer(conversation("gemini"), bytes(answer))).toBe('Look \n\nfind {"q":1}\n\nhere.');
    expect(textOfStreamedAnswer(conversation("gemini"), [event(answer)])).toBe('Look \n\nfind {"q":1}\n\nhere.');
  });

  test("tens of thousands of tool calls, collected in linear time", () => {
    const calls = Array.from({ length: 30_000 }, (_, at) => ({
      id: `c${at}`,
      type: "function",
      function: { name: "find", arguments: JSON.stringify({ at, q: "x".repeat(200) }) },
    }));
    const message = { role: "assistant", content: null, tool_calls: calls };
    const answer = bytes({ choices: [{ index: 0, message, finish_reason: "tool_calls" }] });
    const started = cpuMs();
    expect(textOfWholeAnswer(conversation("chat"), answer)).toContain(calls[29_999]?.function.arguments as string);
    expect(cpuMs(started)).toBeLessThan(8 * fixedWorkMs());
  });

  test("nothing if the answer cannot be parsed", () => {
    expect(textOfWholeAnswer(conversation("chat"), new TextEncoder().encode("<html>"))).toBeNull();
  });
});
