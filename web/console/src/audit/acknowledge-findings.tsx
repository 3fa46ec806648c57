import { Button } from "@gatehouse/web-kit/button.tsx";
import { TextField } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { formatNumber } from "@gatehouse/web-kit/formats.ts";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { adminApi } from "../admin-client.ts";
import type { AdminApi } from "../api/admin-api.generated.ts";
import { Allowed } from "../records/allowed.tsx";

const ACKNOWLEDGE = "POST /v1/admin/audit/chains/{chain_id}/ack";
type Verification = AdminApi[typeof ACKNOWLEDGE]["answer"];

/**
 * A form to acknowledge verification findings with a reason. Renders nothing if none are left. The gateway lists further findings once the
 * listed ones are acknowledged.
 */
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
      if (answer.unacknowledged === 0) setNote("");
      onDone(answer);
      showToast(
        answer.unacknowledged === 0
          ? "Acknowledged, and recorded in the admin log."
          : `Acknowledged, and recorded in the admin log. ${formatNumber(answer.unacknowledged)} are left.`,
      );
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
          label="Reason"
          hint="Acknowledged findings stay listed, and certificates and reports quote this reason. Health and alerts no longer count them."
          value={note}
          required
          maxLength={4000}
          onChange={({ target }) => setNote(target.value)}
        />
        <FormError error={acknowledge.error} />
        <div>
          <Button type="submit" busy={acknowledge.isPending} disabled={note.trim() === ""}>
            {open.length === 1 ? "Acknowledge" : `Acknowledge these ${formatNumber(open.length)}`}
          </Button>
        </div>
      </form>
    </Allowed>
  );
}
