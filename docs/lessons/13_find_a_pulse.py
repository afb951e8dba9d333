from ridge import search

band = search.Band(first_mhz=1500, step_mhz=-0.25, interval=256e-6)
pulses = [(80, 1.0, 4, 15), (150, 3.0, 16, 12), (30, 5.0, 2, 20)]      # DM, seconds, samples, S/N
power = search.simulate(band, times=32768, channels=256, pulses=pulses)

loudest = power.sum(axis=1).astype(float)
print(f"without dedispersion the largest deviation is {abs(loudest - loudest.mean()).max() / loudest.std():.0f} sigma")

found = search.find(power, band, dm=(0, 200))
for pulse in found:
    print(f"DM {pulse['dm']:.0f} at {pulse['time']:.3f} s, {pulse['samples']} samples wide, S/N {pulse['snr']:.0f}")
