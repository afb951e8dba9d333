from ridge import search

band = search.Band(first_mhz=1500, step_mhz=-1, interval=1e-3)
pulses = [(50, 0.4 + 0.25 * i, 8, 2) for i in range(120)]      # DM, seconds, samples, S/N: four per second, each too weak
power = search.simulate(band, times=32768, channels=64, pulses=pulses)

print(f"single pulses above 8 sigma: {len(search.find(power, band, dm=(0, 100), threshold=8))}")

best = search.periods(power, band, dm=50)[0]
print(f"period {best['period']:.4f} s from {best['harmonics']} harmonics")

trials = [best["period"] * (1 + i * 1e-4) for i in range(-10, 11)]
folded = {period: search.fold(power, band, period, dm=50, bins=250)[1] for period in trials}
period = max(folded, key=folded.get)
print(f"period {period:.4f} s, folded S/N {folded[period]:.0f}, of {2 * 120 ** 0.5:.0f} put in")
