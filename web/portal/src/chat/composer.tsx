import { Button, IconButton } from "@gatehouse/web-kit/button.tsx";
import { ImagePlus, SendHorizontal, Square, X } from "lucide-react";
import { type ClipboardEvent, type DragEvent, type KeyboardEvent, type ReactNode, useRef, useState } from "react";
import { usePortalTexts } from "../translations.ts";
import type { Attachment } from "./conversation.ts";

interface ComposerProps {
  /** Key under which unsent text is kept, so that it reappears after visiting another page or signing in again. */
  readonly draft: string;
  readonly streaming: boolean;
  readonly ready: boolean;
  readonly takesImages: boolean;
  readonly onSend: (text: string, attachments: readonly Attachment[]) => void;
  readonly onStop: () => void;
}

const INPUT_METHOD_KEY = 229;
const MAX_IMAGE_BYTES = 4_000_000;

/** In memory only, so that nobody else finds them. */
const drafts = new Map<string, string>();

function read(file: File): Promise<Attachment> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve({ name: file.name, url: String(reader.result) }));
    reader.addEventListener("error", () => reject(reader.error ?? new Error("The file could not be read.")));
    reader.readAsDataURL(file);
  });
}

function Attached({
  attachments,
  onRemove,
}: {
  readonly attachments: readonly Attachment[];
  readonly onRemove: (at: number) => void;
}): ReactNode {
  const t = usePortalTexts();
  if (attachments.length === 0) return null;
  return (
    <ul className="flex flex-wrap gap-2 p-1">
      {attachments.map((one, at) => (
        <li key={at} className="relative">
          <img src={one.url} alt={t("image", { name: one.name })} className="size-16 rounded-lg object-cover" />
          <button
            type="button"
            aria-label={t("remove", { name: one.name })}
            onClick={() => onRemove(at)}
            className="absolute -top-2 -right-2 inline-flex size-6 items-center justify-center rounded-full border border-line bg-surface"
          >
            <X aria-hidden size={14} />
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Enter sends and Shift+Enter breaks the line; during IME composition, Enter belongs to the input method. */
export function Composer({ draft, streaming, ready, takesImages, onSend, onStop }: ComposerProps): ReactNode {
  const t = usePortalTexts();
  const [text, setText] = useState(() => drafts.get(draft) ?? "");
  const [attachments, setAttachments] = useState<readonly Attachment[]>([]);
  const [refused, setRefused] = useState<readonly string[]>([]);
  const files = useRef<HTMLInputElement>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  const write = (next: string) => {
    setText(next);
    if (next === "") drafts.delete(draft);
    else drafts.set(draft, next);
  };
  const canSend = ready && !streaming && (text.trim() !== "" || attachments.length > 0);
  const send = () => {
    if (!canSend) return;
    onSend(text.trim(), attachments);
    write("");
    setAttachments([]);
    setRefused([]);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // Safari reports the key that ends a composition after its end, with the generic key code of input methods.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing || event.keyCode === INPUT_METHOD_KEY) return;
    event.preventDefault();
    send();
  };
  const add = async (list: Iterable<File> | null) => {
    const [fit, others] = [[] as File[], [] as string[]];
    for (const file of list ?? [])
      if (file.type.startsWith("image/") && file.size <= MAX_IMAGE_BYTES) fit.push(file);
      else others.push(file.name);
    setRefused(others);
    const added = await Promise.all(fit.map(read));
    setAttachments((before) => [...before, ...added]);
  };
  /** Takes pasted or dropped files; if text comes with them, the browser inserts it. */
  const take = (event: ClipboardEvent | DragEvent, given: DataTransfer, isText: boolean) => {
    if (!takesImages || given.files.length === 0 || isText) return;
    event.preventDefault();
    // The file list is emptied when the event handler returns.
    void add([...given.files]);
  };
  return (
    <form
      onPaste={(event) => take(event, event.clipboardData, event.clipboardData.types.includes("text/plain"))}
      onDragOver={(event) => takesImages && event.dataTransfer.types.includes("Files") && event.preventDefault()}
      onDrop={(event) => take(event, event.dataTransfer, false)}
      className="rounded-2xl border border-edge bg-surface p-2 focus-within:border-accent focus-within:outline-2 focus-within:outline-accent"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Attached attachments={attachments} onRemove={(at) => setAttachments(attachments.filter((_, other) => other !== at))} />
      {refused.length > 0 && (
        <ul role="alert" className="grid gap-1 p-1 text-sm text-bad">
          {refused.map((name, at) => (
            <li key={at}>{t("imageRefused", { name })}</li>
          ))}
        </ul>
      )}
      <textarea
        ref={box}
        aria-label={t("message")}
        placeholder={t("message")}
        title={t("messageHint")}
        value={text}
        rows={1}
        dir="auto"
        onChange={(event) => write(event.target.value)}
        onKeyDown={onKeyDown}
        className="field-sizing-content block max-h-48 min-h-11 w-full resize-none bg-transparent px-2 py-2 outline-none placeholder:text-muted"
      />
      <div className="flex items-center gap-1">
        {takesImages && (
          <>
            <IconButton icon={ImagePlus} label={t("attach")} onClick={() => files.current?.click()} />
            <input
              ref={files}
              type="file"
              accept="image/*"
              multiple
              hidden
              onChange={(event) => {
                void add(event.target.files);
                event.target.value = "";
              }}
            />
          </>
        )}
        <span className="ml-auto" />
        {streaming ? (
          <Button
            icon={Square}
            onClick={() => {
              onStop();
              // Focus moves to the box, because the stop button disappears with the answer.
              box.current?.focus();
            }}
          >
            {t("stop")}
          </Button>
        ) : (
          <Button type="submit" look="primary" icon={SendHorizontal} disabled={!canSend}>
            {t("send")}
          </Button>
        )}
      </div>
    </form>
  );
}
