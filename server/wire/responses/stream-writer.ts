import type { ReplyContext, StreamWriter } from "../conversation/codec.ts";
import type { ConversationEvent, StopReason } from "../conversation/reply.ts";
import type { JsonObject } from "../../kernel/json-value.ts";
import { refusalNote } from "../openai/chat/stop.ts";
import { writeOpenAiFault } from "../openai/fault.ts";
import { lineJson } from "../streams/sse-data.ts";
import type { Usage } from "../usage.ts";
import { referableItems } from "./item-references.ts";
import { ItemIds, pictureItem } from "./output-items.ts";
import { ending, isCut, type ResponseState, responseObject } from "./response-object.ts";
import { type ItemEvent, ItemWriter } from "./stream-item-writer.ts";

/** Writes a streamed response in OpenAI's format, with numbered events and a start and end for each item. */
export class ResponsesStreamWriter implements StreamWriter {
  private readonly context: ReplyContext;
  private readonly ids: ItemIds;
  private readonly open = new Map<number, ItemWriter>();
  /** The part that ended last: whether it is complete is only known from what follows. */
  private ended: number | null = null;
  /** Finished items by their index in the output. */
  private readonly output: JsonObject[] = [];
  private places = 0;
  private sequence = 0;
  private created = false;
  private id: string | null = null;
  private refused = false;
  private usage: Usage | null = null;
  private stop: { readonly reason: StopReason; readonly detail: string | null } = { reason: "end", detail: null };

  constructor(context: ReplyContext) {
    this.context = context;
    this.ids = new ItemIds(context);
  }

  write(event: ConversationEvent): string {
    if ("candidate" in event && event.candidate !== 0) return "";
    if (event.kind === "stop") return this.stopped(event);
    // What is cited may be reported after the end of the text.
    if (event.kind === "citation") return this.eventText(this.open.get(event.part)?.cite(event.citation));
    if (event.kind !== "usage") return this.settle("completed") + this.written(event);
    this.usage = event.usage;
    return "";
  }

  private written(event: Exclude<ConversationEvent, { kind: "stop" | "usage" | "citation" }>): string {
    switch (event.kind) {
      case "start":
        this.id = event.id;
        return this.begin();
      case "part_start":
        if (event.type === "refusal") this.refused = true;
        return this.begin() + this.start(event);
      case "delta":
        return this.eventText(this.open.get(event.part)?.delta(event.text));
      case "signature":
        return event.signature.family === "openai" ? this.eventText(this.open.get(event.part)?.sealed(event.signature.value)) : "";
      case "picture":
        return this.begin() + this.picture(event);
      case "part_end":
        this.ended = event.part;
        return "";
      case "fault":
        // The vendor's error event is flat; its clients pass that on as an event, and throw if it has an `error` object.
        return this.event({
          ...{ type: "error", code: event.fault.code, message: event.fault.message, param: event.fault.param },
          ...writeOpenAiFault(event.fault),
        });
    }
  }

  close(): string {
    const head = this.begin() + this.settle("completed") + [...this.open.keys()].map((part) => this.end(part, "completed")).join("");
    const end = ending(this.stop.reason, this.refused);
    return head + this.event({ type: `response.${end.status}`, response: this.response({ ...end, failure: this.stop.detail }) });
  }

  referable(): ReadonlyMap<string, string> {
    return referableItems(
      this.output.filter((item) => item !== undefined),
      this.context.request,
    );
  }

  private begin(): string {
    if (this.created) return "";
    this.created = true;
    const response = this.response({ status: "in_progress" });
    return this.event({ type: "response.created", response }) + this.event({ type: "response.in_progress", response });
  }

  private start(event: ConversationEvent & { kind: "part_start" }): string {
    const item = new ItemWriter(
      event.type === "tool_call"
        ? { type: "tool_call", id: this.ids.calls.of(event.id), tool: this.ids.tool(event.name) }
        : { type: event.type },
      this.ids,
      () => this.places++,
    );
    this.open.set(event.part, item);
    return this.eventText(item.start());
  }

  private picture(event: ConversationEvent & { kind: "picture" }): string {
    const place = this.places++;
    const item = pictureItem(this.ids.item("ig", place), event);
    this.output[place] = item;
    const added = { id: item.id, type: item.type, status: "in_progress", result: null } as JsonObject;
    return this.eventText([
      { type: "response.output_item.added", output_index: place, item: added },
      { type: "response.output_item.done", output_index: place, item },
    ]);
  }

  private settle(status: "completed" | "incomplete"): string {
    const part = this.ended;
    this.ended = null;
    return part === null ? "" : this.end(part, status);
  }

  private end(part: number, status: "completed" | "incomplete"): string {
    const item = this.open.get(part);
    if (item === undefined) return "";
    this.open.delete(part);
    const { events, place, done } = item.end(status);
    if (done !== null) this.output[place] = done;
    return this.eventText(events);
  }

  private stopped({ reason, stopDetail }: ConversationEvent & { kind: "stop" }): string {
    this.stop = { reason, detail: stopDetail };
    const last = this.settle(isCut(reason) ? "incomplete" : "completed");
    const note = refusalNote({ stop: reason, stopDetail, parts: this.refused ? [{ kind: "refusal" }] : [] });
    if (note === null) return last;
    // The provider's text about a refusal, if the model wrote none.
    const part = Number.MAX_SAFE_INTEGER;
    return (
      last +
      this.begin() +
      this.start({ kind: "part_start", candidate: 0, part, type: "refusal" }) +
      this.eventText(this.open.get(part)?.delta(note)) +
      this.end(part, "completed")
    );
  }

  private response(state: Pick<ResponseState, "status" | "incomplete" | "failure">): JsonObject {
    return responseObject(
      { ...state, id: this.id, output: this.output.filter((item) => item !== undefined), usage: this.usage },
      this.context,
    );
  }

  private eventText(events: readonly ItemEvent[] | undefined): string {
    return events === undefined ? "" : events.map((event) => this.event(event)).join("");
  }

  private event({ type, ...members }: ItemEvent): string {
    return `event: ${type}\ndata: ${lineJson({ type, sequence_number: this.sequence++, ...members })}\n\n`;
  }
}
