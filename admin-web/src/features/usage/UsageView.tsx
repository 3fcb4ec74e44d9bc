import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Stack } from "../../ui/Stack.tsx";
import { Select, Toolbar } from "../../ui/Toolbar.tsx";
import { Estimates } from "./Estimates.tsx";
import { csvPath, usageQuery } from "./queries.ts";
import { UsageByDay } from "./UsageByDay.tsx";
import { UsageByGroup } from "./UsageByGroup.tsx";
import { daysOf, GROUPS, MEASURES, SPANS, type Wish } from "./wish.ts";

type Props = { wish: Wish; onWish: (name: "span" | "by" | "measure", value: string) => void };

/** What model calls have used: day by day, and by what they have in common. */
export function UsageView({ wish, onWish }: Props) {
  const [now] = useState(Date.now);
  const days = daysOf(wish, now);
  const from = days[0];
  const byDay = useQuery(usageQuery({ group: "day", from }));
  const byGroup = useQuery(usageQuery({ group: wish.group, from }));
  return (
    <Stack>
      <Toolbar label="What is shown">
        <Choice
          label="Time"
          names={SPANS}
          value={wish.span}
          onChange={(value) => onWish("span", value)}
        />
        <Choice
          label="Measure"
          names={MEASURES}
          value={wish.measure}
          onChange={(value) => onWish("measure", value)}
        />
        <Choice
          label="By"
          names={GROUPS}
          value={wish.group}
          onChange={(value) => onWish("by", value)}
        />
        <a href={csvPath({ group: wish.group, from })} download>
          By {GROUPS[wish.group].toLowerCase()} as CSV
        </a>
        <a href={csvPath({ group: "day", from })} download>
          By day as CSV
        </a>
      </Toolbar>
      <UsageByDay found={byDay} days={days} measure={wish.measure} />
      <UsageByGroup found={byGroup} wish={wish} />
      <Estimates from={from} />
    </Stack>
  );
}

type ChoiceProps = {
  label: string;
  names: Readonly<Record<string, string>>;
  value: string;
  onChange: (value: string) => void;
};

function Choice({ label, names, value, onChange }: ChoiceProps) {
  return <Select label={label} value={value} options={Object.entries(names)} onChange={onChange} />;
}
