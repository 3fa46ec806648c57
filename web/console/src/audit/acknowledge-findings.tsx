import { Button } from "@gatehouse/web-kit/button.tsx";
import { TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { tell } from "@gatehouse/web-kit/toast.tsx";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApi } from "../api/admin-api.generated.ts";
import { Allowed } from "../records/allowed.tsx";

const ACKNOWLEDGE = "POST /v1/admin/audit/chains/{chain_id}/ack";
type Verification = AdminApi[typeof ACKNOWLEDGE]["answer"];

/** Somebody says that they know of what was found, and why it counts no more. Not there where nothing is left to say that of. */
export function AcknowledgeFindings({
  verification,
  onDone,
}: {
  readonly verification: Verification;
  readonly onDone: (verification: Verification) => void;
}): ReactNode {
  const [note, setNote] = useState("");
  const open = verification.findings.filter(({ acknowledged_at: at }) => at === null).map(({ id }) => id);
  const acknowledge = useMutation({
    mutationFn: () =>
      adminApi.call(ACKNOWLEDGE, { path: { chain_id: verification.chain_id }, body: { finding_ids: open, note: note.trim() } }),
    onSuccess(answer) {
      setNote("");
      onDone(answer);
      tell("Acknowledged, and told in the admin log.");
    },
  });
  if (open.length === 0) return null;
  return (
    <Allowed operation={ACKNOWLEDGE}>
      <form
        className="grid max-w-xl gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          acknowledge.mutate();
        }}
      >
        <TextField
          label="Why it counts no more"
          hint="It stays found, and certificates and reports name it with these words. Health and alerts no longer count it."
          value={note}
          required
          maxLength={4000}
          onChange={({ target }) => setNote(target.value)}
        />
        <FormError error={acknowledge.error} />
        <div>
          <Button type="submit" busy={acknowledge.isPending} disabled={note.trim() === ""}>
            {open.length === 1 ? "I know of it" : `I know of these ${open.length}`}
          </Button>
        </div>
      </form>
    </Allowed>
  );
}
