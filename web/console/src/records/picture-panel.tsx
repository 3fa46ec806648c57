import { Button } from "@gatehouse/web-kit/button.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { Panel } from "@gatehouse/web-kit/page.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { ImageOff, Upload } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { adminApi } from "../admin-client.ts";
import { Allowed } from "./allowed.tsx";

const SET_ICON = "POST /v1/admin/mcp-servers/{id}/icon";
const SET_PHOTO = "POST /v1/admin/end-users/{id}/photo";

const PICTURES = {
  "tool-servers": { title: "Icon", hint: "JPEG, PNG, WebP or GIF, at most 64 KB.", operation: SET_ICON },
  people: { title: "Photo", hint: "JPEG, PNG, WebP or GIF, at most 5 MB.", operation: SET_PHOTO },
} as const;

/** A record's picture, with a button to replace it. */
export function PicturePanel({
  of,
  id,
  address,
}: {
  readonly of: keyof typeof PICTURES;
  readonly id: string;
  /** The picture's URL; null if there is none. */
  readonly address: string | null;
}): ReactNode {
  const queries = useQueryClient();
  const chosen = useRef<HTMLInputElement>(null);
  const { title, hint, operation } = PICTURES[of];
  const send = useMutation({
    mutationFn(file: File): Promise<unknown> {
      const body = new FormData();
      body.set("file", file);
      const request = { path: { id }, body };
      return operation === SET_ICON ? adminApi.call(SET_ICON, request) : adminApi.call(SET_PHOTO, request);
    },
    async onSuccess() {
      await queries.invalidateQueries({ queryKey: ["records", of] });
      showToast(`${title} saved.`);
    },
  });
  // The content security policy blocks images from other hosts.
  const isShown = address !== null && /^(?:data:image\/|\/)/.test(address);
  return (
    <Panel title={title}>
      <div className="flex flex-wrap items-center gap-4">
        <span className="inline-flex size-16 shrink-0 items-center justify-center overflow-hidden rounded-xl border border-line bg-sunken text-muted">
          {isShown ? <img src={address} alt={title} className="size-full object-cover" /> : <ImageOff aria-hidden size={22} />}
        </span>
        <div className="grid min-w-0 gap-2">
          <p className="text-sm text-muted wrap-anywhere">
            {address === null ? "None yet." : isShown ? "" : `At ${address}.`} {hint}
          </p>
          <FormError error={send.error} />
          <Allowed operation={operation}>
            <input
              ref={chosen}
              type="file"
              accept="image/jpeg,image/png,image/webp,image/gif"
              aria-label={`${title} file`}
              className="sr-only"
              tabIndex={-1}
              onChange={({ target }) => {
                const [file] = target.files ?? [];
                if (file !== undefined) send.mutate(file);
                target.value = "";
              }}
            />
            <div>
              <Button icon={Upload} busy={send.isPending} onClick={() => chosen.current?.click()}>
                {address === null ? `Upload ${title.toLowerCase()}` : `Replace ${title.toLowerCase()}`}
              </Button>
            </div>
          </Allowed>
        </div>
      </div>
    </Panel>
  );
}
