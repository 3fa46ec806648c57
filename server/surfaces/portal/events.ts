import type { FeedEvent } from "../../directory/people/portal/feed-follower.ts";
import type { StreamAnswer } from "../../road/answer.ts";
import { PASSED_STREAM } from "../../wire/streams/stream.ts";
import { portalOperation, type PortalRoute } from "./portal-operation.ts";
import type { PortalRequest } from "./portal-request.ts";

const KEEP_ALIVE_MS = 15_000;
/** A reader this far behind is disconnected; it reconnects with a resync. */
const MAX_WAITING = 256;

const encoder = new TextEncoder();
const KEEP_ALIVE = encoder.encode(": keep-alive\n\n");
const READY = encoder.encode("event: ready\ndata: {}\n\n");

const written = new WeakMap<FeedEvent, Uint8Array>();

/** An event is serialised once, however many streams receive it. */
function frameOf(event: FeedEvent): Uint8Array {
  let frame = written.get(event);
  if (frame === undefined) {
    frame = encoder.encode(`event: ${event.name}\ndata: ${JSON.stringify(event.data)}\n\n`);
    written.set(event, frame);
  }
  return frame;
}

/** Whether the token still gives access: its expiry, and changes to its user and their tenant since. */
async function stillAdmitted({ services, call }: PortalRequest<unknown, unknown>): Promise<boolean> {
  const { token } = call;
  if (token === null || token.expiresAt <= services.directory.clock.now()) return false;
  if ((await services.snapshots.tenant(token.tenantId))?.enabled !== true) return false;
  const user = await services.users.find(token.tenantId, token.userId);
  return user !== null && user.is_active && token.issuedAt >= user.tokens_valid_from.getTime();
}

function openStream(request: PortalRequest<unknown, unknown>): ReadableStream<Uint8Array> {
  const { services, who } = request;
  let close = () => {};
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        let open = true;
        let unfollow = () => {};
        const end = () => {
          close();
          try {
            controller.close();
          } catch {
            // It was closed from the other side.
          }
        };
        const send = (frame: Uint8Array) => {
          // The stream may have been closed while admission was checked.
          if (!open) return;
          if ((controller.desiredSize ?? 0) < -MAX_WAITING) end();
          else controller.enqueue(frame);
        };
        let sent = Promise.resolve();
        const sendIfAdmitted = (frame: Uint8Array) => {
          sent = sent.then(async () => {
            // While the directory is unavailable, whoever was admitted stays so until it can be asked.
            if (await stillAdmitted(request).catch(() => true)) send(frame);
            else end();
          });
        };
        const beat = setInterval(() => sendIfAdmitted(KEEP_ALIVE), KEEP_ALIVE_MS);
        close = () => {
          if (!open) return;
          open = false;
          clearInterval(beat);
          unfollow();
        };
        controller.enqueue(READY);
        unfollow = services.feed.follow({ ...who, tell: (event) => sendIfAdmitted(frameOf(event)), end });
        // A feed that is stopping ends new followers at once.
        if (!open) unfollow();
      },
      cancel: () => close(),
    },
    { highWaterMark: 1 },
  );
}

export const eventRoutes: readonly PortalRoute[] = [
  portalOperation({
    method: "GET",
    path: "/v1/portal/events",
    name: "events",
    summary: "Live events",
    answer: { status: 200, media: "text/event-stream" },
    async run(request): Promise<StreamAnswer> {
      return {
        kind: "stream",
        status: 200,
        headers: {
          "content-type": "text/event-stream",
          "cache-control": "no-store",
          "x-accel-buffering": "no",
          "x-content-type-options": "nosniff",
        },
        upstream: openStream(request).getReader(),
        codec: PASSED_STREAM,
        head: [],
        inputCharacters: null,
        idleMs: 4 * KEEP_ALIVE_MS,
        endless: true,
      };
    },
  }),
];
