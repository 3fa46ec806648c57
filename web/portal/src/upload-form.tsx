import { Button } from "@gatehouse/web-kit/button.tsx";
import { inputClass } from "@gatehouse/web-kit/field.tsx";
import { FormError } from "@gatehouse/web-kit/form-error.tsx";
import { Panel } from "@gatehouse/web-kit/page.tsx";
import { showToast } from "@gatehouse/web-kit/toast.tsx";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { LucideIcon } from "lucide-react";
import { type ReactNode, useId, useRef } from "react";

interface UploadFormProps {
  readonly label: string;
  /** Accepted file types; all if omitted. */
  readonly accept?: string;
  readonly action: string;
  readonly icon: LucideIcon;
  readonly upload: (file: File) => Promise<void>;
  /** The query to refetch after the upload. */
  readonly queryKey: string;
  readonly done: string;
}

/** A form that uploads one file. */
export function UploadForm({ label, accept, action, icon, upload, queryKey, done }: UploadFormProps): ReactNode {
  const queries = useQueryClient();
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const uploaded = useMutation({
    mutationFn: upload,
    async onSuccess() {
      if (input.current !== null) input.current.value = "";
      await queries.invalidateQueries({ queryKey: [queryKey] });
      showToast(done);
    },
  });
  return (
    <Panel>
      <form
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          const [file] = input.current?.files ?? [];
          if (file !== undefined) uploaded.mutate(file);
        }}
      >
        <label htmlFor={id} className="text-sm font-medium">
          {label}
        </label>
        <input ref={input} id={id} type="file" required accept={accept} className={inputClass} />
        <FormError error={uploaded.error} />
        <div>
          <Button type="submit" look="primary" icon={icon} busy={uploaded.isPending}>
            {action}
          </Button>
        </div>
      </form>
    </Panel>
  );
}
