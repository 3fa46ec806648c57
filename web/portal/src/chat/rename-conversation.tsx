import { Button, IconButton } from "@gatehouse/web-kit/button.tsx";
import { Dialog } from "@gatehouse/web-kit/dialog.tsx";
import { TextField } from "@gatehouse/web-kit/field.tsx";
import { Pencil } from "lucide-react";
import { type ReactNode, type SubmitEvent, useState } from "react";
import { usePortalTexts } from "../translations.ts";
import type { StoredConversation } from "./conversation.ts";

const MAX_LENGTH = 200;

interface RenameConversationProps {
  readonly conversation: StoredConversation;
  readonly onRename: (title: string) => void;
}

/** Lets the person name a conversation. */
export function RenameConversation({ conversation: { title }, onRename }: RenameConversationProps): ReactNode {
  const t = usePortalTexts();
  const [open, setOpen] = useState(false);
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get("name")).trim();
    if (name === "") return;
    onRename(name);
    setOpen(false);
  };
  return (
    <>
      <IconButton icon={Pencil} label={t("renameChat")} onClick={() => setOpen(true)} />
      <Dialog open={open} onClose={() => setOpen(false)} title={t("renameChat")} closeLabel={t("cancel")}>
        <form className="grid gap-4" onSubmit={submit}>
          <TextField
            label={t("chatName")}
            name="name"
            defaultValue={title}
            required
            maxLength={MAX_LENGTH}
            autoComplete="off"
            dir="auto"
            autoFocus
          />
          <div>
            <Button type="submit" look="primary">
              {t("save")}
            </Button>
          </div>
        </form>
      </Dialog>
    </>
  );
}
