import { formatPrice } from "@gatehouse/web-kit/formats.ts";
import type { ReactNode } from "react";
import type { PickableModel } from "../api/portal-records.ts";
import { usePortalTexts } from "../translations.ts";

interface ModelPickerProps {
  readonly models: readonly PickableModel[];
  readonly value: PickableModel | null;
  readonly onChange: (id: string) => void;
}

export function ModelPicker({ models, value, onChange }: ModelPickerProps): ReactNode {
  const t = usePortalTexts();
  const price = ({ input_cost_per_million_tokens: input, output_cost_per_million_tokens: output }: PickableModel) =>
    input === null || output === null ? t("noPrice") : t("perMillion", { input: formatPrice(input), output: formatPrice(output) });
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
      <select
        aria-label={t("model")}
        value={value?.id ?? ""}
        onChange={(event) => onChange(event.target.value)}
        className="min-h-9 max-w-full min-w-28 sm:max-w-80 rounded-lg border border-edge bg-surface px-2 font-medium"
      >
        {models.map((model) => (
          <option key={model.id} value={model.id}>
            {model.is_healthy === false ? `${model.name} (${t("unhealthy")})` : model.name}
          </option>
        ))}
      </select>
      {value !== null && <span className="truncate text-xs text-muted">{price(value)}</span>}
    </div>
  );
}
